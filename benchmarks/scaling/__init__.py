"""Parts of `benchmarks.scale`: large models, what planning and drawing them costs, and shards."""
