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
    stp x0, x1, [sp, #-32]!
    .cfi_adjust_cfa_offset 32
    str x30, [sp, #16]
    .cfi_rel_offset x30, 16
    bl \before
    mov x16, x0
    ldr x30, [sp, #16]
    .cfi_restore x30
    ldp x0, x1, [sp], #32
    .cfi_adjust_cfa_offset -32
    br x16
    .cfi_endproc
    .size \name, . - \name
    .endm

    .hidden libc_jump_before_dlsym
    .hidden libc_jump_before_vfork
    jump_entry dlsym, libc_jump_before_dlsym
    jump_entry vfork, libc_jump_before_vfork

    .section .note.GNU-stack, "", %progbits
