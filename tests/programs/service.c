/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service to attach to: says "ready", works until it is killed, and on
 * SIGUSR1 starts one more thread ("later") and one child, which work too. The
 * functions differ, so that the compiler does not fold them into one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t wanted;

static void want(int number)
{
	(void)number;
	wanted = 1;
}

static void __attribute__((noinline)) main_work(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}

static void __attribute__((noinline)) thread_work(void)
{
	for (volatile int i = 0; i < 1000000; i += 2)
		;
}

static void __attribute__((noinline)) child_work(void)
{
	for (volatile int i = 0; i < 1000000; i += 3)
		;
}

static void *thread(void *context)
{
	pthread_setname_np(pthread_self(), "later");
	for (;;)
		thread_work();
	return context;
}

int main(void)
{
	pthread_t later;

	signal(SIGUSR1, want);
	puts("ready");
	fflush(stdout);
	for (;;) {
		main_work();
		if (!wanted)
			continue;
		wanted = 0;
		pthread_create(&later, NULL, thread, NULL);
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				child_work();
		}
	}
}
