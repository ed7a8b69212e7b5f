/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The C version of kernel_calls.py, which sends and receives many frames per system call. Only `sleep_until` releases
 * the GIL: no other call blocks, and the static `burst` and `room` are shared by all callers in the process.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ports/burst.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/timerfd.h>

#define LONGEST_FRAME_BYTES (65535 + 14 + 4)
#define NS_PER_S INT64_C(1000000000)
#define CLOCK_READINGS 4
#define PREEMPTED_NS 2000

static struct sw_burst burst;
static char room[SW_BURST_FRAMES][LONGEST_FRAME_BYTES];

static bool check_count(const char *name, Py_ssize_t count, Py_ssize_t expected)
{
    if (count != expected)
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, expected, count);
    return count == expected;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Return the difference of the two clocks: the best of a few readings, because the process may be preempted in one. */
static int64_t realtime_to_monotonic_ns(void)
{
    int64_t least_ns = INT64_MAX, difference_ns = 0;

    for (int i = 0; i < CLOCK_READINGS && least_ns > PREEMPTED_NS; i++) {
        int64_t before_ns = clock_ns(CLOCK_MONOTONIC), realtime_ns = clock_ns(CLOCK_REALTIME);
        int64_t took_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;

        if (took_ns < least_ns) {
            least_ns = took_ns;
            difference_ns = before_ns + took_ns / 2 - realtime_ns;
        }
    }
    return difference_ns;
}

/* Append an item to a list and release the reference to the item. */
static bool add(PyObject *list, PyObject *item)
{
    bool is_added = item && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return is_added;
}

/* Fill the two lists from the burst. Return the number of frames that were too long, or -1 with an exception set. */
static long fill_lists(uint32_t received, size_t room_bytes, PyObject *frames, PyObject *times_ns)
{
    int64_t to_monotonic_ns = realtime_to_monotonic_ns();
    long cut = 0;

    for (uint32_t i = 0; i < received; i++) {
        if (burst.messages[i].msg_len > room_bytes) {
            cut++;
            continue;
        }
        if (!add(frames, PyBytes_FromStringAndSize(room[i], burst.messages[i].msg_len)) ||
            !add(times_ns, PyLong_FromLongLong(sw_burst_notes(&burst, i).realtime_ns + to_monotonic_ns)))
            return -1;
    }
    return cut;
}

static PyObject *calls_receive(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *frames, *times_ns;
    size_t room_bytes;
    int fd, received;
    long cut;

    (void)module;
    if (!check_count("receive", count, 2) || (fd = PyObject_AsFileDescriptor(arguments[0])) < 0)
        return NULL;
    room_bytes = PyLong_AsSize_t(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    if (room_bytes > LONGEST_FRAME_BYTES)
        return PyErr_Format(PyExc_ValueError, "%zu B are more than the longest frame needs", room_bytes);
    for (uint32_t i = 0; i < SW_BURST_FRAMES; i++)
        burst.vectors[i][0] = (struct iovec){room[i], room_bytes};
    received = sw_burst_receive(&burst, fd, SW_BURST_FRAMES);
    if (received < 0 && received != -EAGAIN && received != -EINTR) {
        errno = -received;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    frames = PyList_New(0);
    times_ns = PyList_New(0);
    cut = frames && times_ns ? fill_lists(received < 0 ? 0 : (uint32_t)received, room_bytes, frames, times_ns) : -1;
    if (cut < 0) {
        Py_XDECREF(frames);
        Py_XDECREF(times_ns);
        return NULL;
    }
    return Py_BuildValue("(NNl)", frames, times_ns, cut);
}

/* Point the burst at the list's frames from `begin` on, without copying. Return their number, or -1 with an exception
 * set. */
static Py_ssize_t fill_burst(PyObject *leaving, Py_ssize_t begin)
{
    Py_ssize_t n = PyList_GET_SIZE(leaving) - begin;

    if (n > (Py_ssize_t)SW_BURST_FRAMES)
        n = SW_BURST_FRAMES;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyList_GET_ITEM(leaving, begin + i);

        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyBytes_Check(PyTuple_GET_ITEM(pair, 1))) {
            PyErr_SetString(PyExc_TypeError, "send takes pairs of a time and a frame");
            return -1;
        }
        burst.vectors[i][0] = (struct iovec){PyBytes_AS_STRING(PyTuple_GET_ITEM(pair, 1)),
                                             (size_t)PyBytes_GET_SIZE(PyTuple_GET_ITEM(pair, 1))};
    }
    return n;
}

static PyObject *calls_send(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Py_ssize_t place;
    int fd, error = 0;

    (void)module;
    if (!check_count("send", count, 3) || (fd = PyObject_AsFileDescriptor(arguments[0])) < 0)
        return NULL;
    place = PyLong_AsSsize_t(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
    if (!PyList_Check(arguments[1]) || place < 0) {
        PyErr_SetString(PyExc_TypeError, "send takes a list and an index into it");
        return NULL;
    }
    while (!error && place < PyList_GET_SIZE(arguments[1])) {
        Py_ssize_t n = fill_burst(arguments[1], place);

        if (n < 0)
            return NULL;
        place += sw_burst_send(&burst, fd, (uint32_t)n, &error);
    }
    return Py_BuildValue("(ni)", place, error);
}

static PyObject *calls_set_timer(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    struct itimerspec spec = {0};
    long long instant_ns;
    int fd;

    (void)module;
    if (!check_count("set_timer", count, 2) || (fd = PyObject_AsFileDescriptor(arguments[0])) < 0)
        return NULL;
    instant_ns = PyLong_AsLongLong(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    spec.it_value = (struct timespec){instant_ns / NS_PER_S, instant_ns % NS_PER_S};
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

static PyObject *calls_sleep_until(PyObject *module, PyObject *argument)
{
    long long instant_ns = PyLong_AsLongLong(argument);
    struct timespec instant = {instant_ns / NS_PER_S, instant_ns % NS_PER_S};
    PyThreadState *others;

    (void)module;
    if (PyErr_Occurred())
        return NULL;
    others = PyEval_SaveThread();
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
    PyEval_RestoreThread(others);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"receive", (PyCFunction)(void (*)(void))calls_receive, METH_FASTCALL, NULL},
    {"send", (PyCFunction)(void (*)(void))calls_send, METH_FASTCALL, NULL},
    {"set_timer", (PyCFunction)(void (*)(void))calls_set_timer, METH_FASTCALL, NULL},
    {"sleep_until", calls_sleep_until, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "sfc_testbed.hosts.io.kernel_calls",
                                        .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit_kernel_calls(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && PyModule_AddIntConstant(module, "BURST", SW_BURST_FRAMES) < 0)
        Py_CLEAR(module);
    return module;
}
