"""The paper's small examples, as `goodprior demo` shows them."""
