/**
 * All jobs of the worker pool. Jobs that handle untrusted responses or expressions run in their own processes, whose
 * heap limits are lower if Patchbay has little memory.
 */
export const JOBS = {
  /** Counting a list of 2,000 tools takes a second. */
  'count-tokens': {
    load: async () => (await import('../lib/tokens/token-counter.ts')).createTextCount(),
    timeLimitMs: 20_000,
  },
  /** Reading 2,000 tools takes several seconds. */
  'read-catalogue': {
    load: async () => (await import('../tools/lint/read-catalogue.ts')).createCatalogueReader(),
    timeLimitMs: 60_000,
  },
  /** Searching 10 MB usually takes a tenth of a second, and three seconds if secrets and text are crafted to be slow. */
  'find-secrets': {
    load: async () => (await import('../results/mask/masking-job.ts')).runFindSecretsJob,
    timeLimitMs: 5_000,
  },
  'mask-utf8': {
    load: async () => (await import('../results/mask/masking-job.ts')).runMaskUtf8Job,
    timeLimitMs: 5_000,
  },
  /** Masking 10 MB by a few rules takes a second, and longer if many patterns match almost everywhere. */
  'mask-by-rules': {
    load: async () => (await import('../results/mask/rules/rule-masking-job.ts')).runMaskByRulesJob,
    timeLimitMs: 10_000,
  },
  /** Shaping 10 MB with a reasonable expression needs less than half of each limit. */
  'shape-result': {
    load: async () => (await import('../results/shape/shape-text.ts')).runShapingJob,
    timeLimitMs: 5_000,
    ownProcess: { heapLimitMb: 256 },
  },
  /** Compiling a schema of 64 KiB takes a fifth of this time. Each check has a separate limit of 250 ms. */
  'check-schema': {
    load: async () => (await import('../tools/schemas/schema-check-job.ts')).createSchemaCheckJob(),
    timeLimitMs: 10_000,
    ownProcess: { heapLimitMb: 256 },
  },
  /** Compiling schemas up to their limits takes several seconds; those of an ordinary upstream take half a second. */
  'compile-output-schemas': {
    load: async () => (await import('../upstreams/catalogue/compile-output-schemas.ts')).findCompileProblems,
    timeLimitMs: 30_000,
    ownProcess: { heapLimitMb: 256 },
  },
  /**
   * Ten concurrent jobs of 10 MB each take this long on a busy machine. The heap is large enough for two parsed results
   * of the maximum size. A typical result of 10 MB needs a tenth of it.
   */
  'inspect-result': {
    load: async () => (await import('../results/budget/inspect-result.ts')).createResultInspection(),
    timeLimitMs: 20_000,
    ownProcess: { heapLimitMb: 1_024 },
  },
  /**
   * Reading 30 MB with 10,000 operations takes ten seconds, and much longer on a busy machine. The tools are sent as they
   * are read. With this heap, the process takes 300 MB for it.
   */
  'read-description': {
    load: async () => (await import('../imports/read-source.ts')).readSource,
    timeLimitMs: 180_000,
    ownProcess: { heapLimitMb: 136 },
  },
  /** Reading 20 MB of requests takes several seconds, most of them for the tokens of the tools. */
  'read-collection': {
    load: async () => (await import('../imports/read-source.ts')).readSource,
    timeLimitMs: 180_000,
    ownProcess: { heapLimitMb: 512 },
  },
  /** Reads sums, or a limited number of calls: a fraction of a second, unless the database is busy. */
  'read-sums': {
    load: async () => (await import('../history/charts/sum-calls.ts')).createRowReading(),
    timeLimitMs: 30_000,
  },
  'sum-calls': {
    load: async () => (await import('../history/charts/sum-calls.ts')).createCallSumming(),
    timeLimitMs: 30_000,
  },
  'format-calls': {
    load: async () => (await import('../history/export/format-calls.ts')).createCallFormatting(),
    timeLimitMs: 30_000,
  },
}
