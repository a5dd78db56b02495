/* SPDX-License-Identifier: MIT */
/* Where the kernel lets a signal handler return to: rt_sigreturn(2). x86-64
 * wants it from whoever installs a handler by system call. The instructions are
 * the very ones by which gdb and libgcc's unwinder know a signal frame, and the
 * no-operation before them is for unwinders that look at the address before. */
#if defined(__x86_64__)
__asm__(".text\n"
        "    nop\n"
        ".balign 16\n"
        ".globl protect_signal_return\n"
        ".hidden protect_signal_return\n"
        ".type protect_signal_return, @function\n"
        "    nop\n"
        "protect_signal_return:\n"
        "    movq $15, %rax\n"
        "    syscall\n"
        ".size protect_signal_return, .-protect_signal_return\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        "    nop\n"
        ".globl protect_signal_return\n"
        ".hidden protect_signal_return\n"
        ".type protect_signal_return, %function\n"
        "protect_signal_return:\n"
        "    mov x8, #139\n"
        "    svc #0\n"
        ".size protect_signal_return, .-protect_signal_return\n");
#else
#error "Lapwing knows x86-64 and aarch64"
#endif
