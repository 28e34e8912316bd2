/** All jobs of the worker pool. Those on untrusted responses and expressions run in processes of their own. */
export const JOBS = {
  /** A list of 2,000 tools takes a second. */
  'count-tokens': {
    load: async () => (await import('../lib/tokens/token-counter.ts')).createTextCount(),
    timeLimitMs: 20_000,
  },
  /** 2,000 tools take some seconds. */
  'read-catalogue': {
    load: async () => (await import('../tools/lint/read-catalogue.ts')).createCatalogueReader(),
    timeLimitMs: 60_000,
  },
  /** 10 MB and 60 secrets full of special characters take half a second. */
  'find-secrets': {
    load: async () => (await import('../results/mask/masking-job.ts')).createFindSecretsJob(),
    timeLimitMs: 5_000,
  },
  /** A response of 10 MB and a sensible expression need less than half of each limit. */
  'shape-result': {
    load: async () => (await import('../results/shape/shape-text.ts')).runShapingJob,
    timeLimitMs: 5_000,
    ownProcess: { heapLimitMb: 256 },
  },
  /** A schema of 64 KiB compiles in a fifth of this time. Each check has its own limit of 250 ms. */
  'check-schema': {
    load: async () => (await import('../tools/schemas/schema-check-job.ts')).createSchemaCheckJob(),
    timeLimitMs: 10_000,
    ownProcess: { heapLimitMb: 256 },
  },
  /**
   * Ten at once on a busy machine take this time for 10 MB each. The heap holds two parsed results of the largest size
   * allowed; a usual one of 10 MB takes a tenth.
   */
  'inspect-result': {
    load: async () => (await import('../results/budget/inspect-result.ts')).createResultInspection(),
    timeLimitMs: 20_000,
    ownProcess: { heapLimitMb: 1_024 },
  },
}
