// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The mechanisms that are compiled: all, or those of a measurement.
#ifndef SFC_MECHANISMS_P4
#define SFC_MECHANISMS_P4

#ifndef ONE_MECHANISM
#define WITH_TRIGGER      // queue state, threshold, mirror copies and the BTS built from them
#define WITH_FILTER       // BTS suppression
#define WITH_PAUSE_CACHE
#define WITH_ESTIMATOR
#define WITH_SFC_P
#endif

#endif
