"""What the answer to a call must keep: every requirement that a call of a server made from a document is about.

Source: 004_4ca5b084f7ea0751.txt, message, exception, services, meta service, interface, use without a scope. Which of
them a call is about is found out in `service` (what its name reaches), `wire` (whether its arguments are values of
their types) and `server.calls` (what the function that it reaches does).
"""

from __future__ import annotations

from enum import StrEnum

from specs.msgpack.idl.compiler.causes import NO_SCOPE


class Promise(StrEnum):
    """A closed set: no call is about any other requirement."""

    REACHED = "MPIDL-DISP-01"
    """`function:scope:version` reaches that function of that version in that scope. (client side)"""
    UNKNOWN = "MPIDL-DISP-02"
    """What does not exist is answered by an error. (RPC; server side)"""
    OLDER_VERSIONS = "MPIDL-DISP-03"
    """Every version up to the one that the application names can be called. (services)"""
    DEFAULT_SCOPE = "MPIDL-DISP-05"
    """Where no scope is named, the default scope answers. (services)"""
    NO_FUNCTION = "MPIDL-DISP-06"
    """What names nothing in the form of a function is answered by an error."""
    FALLS_BACK = "MPIDL-FALL-01"
    """What a version does not implement is that of the nearest older version that does. (server side)"""
    NOT_IMPLEMENTED = "MPIDL-FALL-02"
    """What no version implements is answered by an error. (server side)"""
    OWN_FIRST = "MPIDL-FALL-03"
    """A version's own implementation is used, and not for older versions. (server side)"""
    NOT_LISTED = "MPIDL-FALL-06"
    """A function that a version does not list is not called in it. (services)"""
    INTERFACE_VERSION = "MPIDL-IF-03"
    """The version of an interface names nothing. (interface)"""
    UNSCOPED = NO_SCOPE
    """A service can be called without a scope. (use without a scope)"""
    META = "MPIDL-META-01"
    """Every application answers `getVersion:_:0`. (meta service)"""
    NEWEST = "MPIDL-META-02"
    """It answers with the newest version that is served in a scope. (meta service)"""
    THROWN = "MPIDL-EXW-01"
    """An exception that is thrown gives an error that names its path. (exception; RPC)"""
    FAILED = "MPIDL-EXW-03"
    """Any other failure gives exactly one error, and the connection goes on. (RPC)"""
    SAME_VALUE = "MPIDL-ENC-01"
    """A value of a declared type comes back as it was sent. (message)"""
    MISSING = "MPIDL-ENC-03"
    """A required field that is missing is an error. (message)"""
    NIL = "MPIDL-ENC-04"
    """nil is an error for what is required and not nullable. (message)"""
    WIDTH = "MPIDL-ENC-07"
    """A number beyond the width of its type is an error. (message)"""
    ARGUMENTS = "MPIDL-ENC-12"
    """Arguments stand in the place of their ids. (services; message)"""
