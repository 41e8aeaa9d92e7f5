"""What needs maintenance: a report on entries, which changes none of them."""
