/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook as an importable file that leaves nothing behind: a stored zip
 * (PKWARE's APPNOTE 4.3) of one member, in memory. Python imports from a zip
 * by path, and /proc/PID/fd/N is one for as long as this process lives.
 */
#ifndef EL_NUMBA_ZIP_H
#define EL_NUMBA_ZIP_H

/* A descriptor of the zip that holds sitecustomize.py; -errno. */
int el_numba_zip_open(void);

#endif
