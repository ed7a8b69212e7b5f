/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * One-line messages on stderr about a port of a running switch: `softswitch: port 1 (veth0): TEXT`.
 */
#ifndef SW_NOTICES_H
#define SW_NOTICES_H

struct sw_process_device;

/* Events that are reported once for each port; the counters have the rest. */
enum sw_notice {
    SW_NOTICE_TOO_LONG = 1,
    SW_NOTICE_MERGED = 2,
    SW_NOTICE_OVER_MTU = 4,
    SW_NOTICE_KERNEL_DROPS = 8,
};

__attribute__((format(printf, 2, 3))) void sw_notice(const struct sw_process_device *device, const char *format, ...);
__attribute__((format(printf, 3, 4))) void sw_notice_once(struct sw_process_device *device, enum sw_notice notice,
                                                          const char *format, ...);

#endif /* SW_NOTICES_H */
