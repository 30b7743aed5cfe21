"""Programs around STOMP client libraries."""
