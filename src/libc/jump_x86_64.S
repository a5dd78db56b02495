/* SPDX-License-Identifier: MIT */
/* Entries whose real function depends on its caller: dlsym and dlopen look from
 * where their return address lies (RTLD_NEXT, RUNPATH), vfork returns twice
 * through it, clone hands its last arguments on where it found them. So the work is
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
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %r9
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp               /* calls want 16-byte alignment */
    .cfi_adjust_cfa_offset 8
    movq 56(%rsp), %rcx         /* fourth argument: the caller */
    call \before
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rdx
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
    .hidden libc_jump_before_dlopen
    .hidden libc_jump_before_vfork
    .hidden libc_jump_before_clone
    jump_entry dlsym, libc_jump_before_dlsym
    jump_entry dlopen, libc_jump_before_dlopen
    jump_entry vfork, libc_jump_before_vfork
    jump_entry clone, libc_jump_before_clone

    .section .note.GNU-stack, "", @progbits
