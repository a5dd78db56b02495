/* SPDX-License-Identifier: MIT */
/* See jump_x86_64.S. Here the return address is in x30, which the work uses:
 * it is saved beside the arguments. x16 is the register for such jumps (AAPCS64,
 * and branch target identification accepts it). */
    .text

    .macro jump_entry name, before
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint #34                    /* bti c */
    stp x0, x1, [sp, #-80]!
    .cfi_adjust_cfa_offset 80
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    str x30, [sp, #64]
    .cfi_rel_offset x30, 64
    mov x3, x30                 /* fourth argument: the caller */
    bl \before
    mov x16, x0
    ldr x30, [sp, #64]
    .cfi_restore x30
    ldp x6, x7, [sp, #48]
    ldp x4, x5, [sp, #32]
    ldp x2, x3, [sp, #16]
    ldp x0, x1, [sp], #80
    .cfi_adjust_cfa_offset -80
    br x16
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

    .section .note.GNU-stack, "", %progbits
