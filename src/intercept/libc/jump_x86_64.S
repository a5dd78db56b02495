/* SPDX-License-Identifier: MIT */
/* Entries whose real function depends on its caller: dlsym looks from where its
 * return address lies (RTLD_NEXT), vfork returns twice through it. So the work is
 * done first and the real function is jumped to, with the caller's return address
 * on top of the stack and the arguments in their registers. */
    .text

    .macro jump_entry name, before
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp               /* calls want 16-byte alignment */
    .cfi_adjust_cfa_offset 8
    call \before
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size \name, . - \name
    .endm

    .hidden libc_jump_before_dlsym
    .hidden libc_jump_before_vfork
    jump_entry dlsym, libc_jump_before_dlsym
    jump_entry vfork, libc_jump_before_vfork

    .section .note.GNU-stack, "", @progbits
