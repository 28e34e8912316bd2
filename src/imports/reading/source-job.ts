import { failure, type Result } from '../../lib/kernel/result.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import type { SourceJob } from '../read-source.ts'
import { type SourceEnd, SourceOutcome } from '../source-parts.ts'

/** The processes that read sources. That for descriptions is small; the other needs all requests at once. */
export type SourceJobs = Readonly<Record<'description' | 'collection', Job<SourceJob, unknown>>>

const ENDINGS: Partial<Record<JobEnding, string>> = {
  time: 'It takes too long to read. Import a part of it.',
  memory: 'It takes more memory to read than Patchbay may use. Import a part of it, or set PATCHBAY_MEMORY_MB to more.',
  queue_full: 'Patchbay has too much to do at the moment. Start the import again later.',
  not_started: 'Patchbay has too much to do at the moment. Start the import again later.',
}
/** Why an import failed whose reader has ended. */
export const READER_STOPPED = 'Patchbay was stopped while it read the source. Start the import again.'

/** Returns why a source was not read, as a sentence. */
export const describeEnding = (ending: JobEnding): string => ENDINGS[ending] ?? READER_STOPPED

type RunOptions = {
  organizationId: string
  signal: AbortSignal
  onPart: (part: string) => Promise<void>
}

/** Reads a source in a process with limits of its own. What the process sends is parsed. The error is a sentence. */
export const runSourceJob = async (
  { description, collection }: SourceJobs,
  input: SourceJob,
  { organizationId, signal, onPart }: RunOptions,
): Promise<Result<SourceEnd, string>> => {
  const job = input.kind === 'openapi' ? description : collection
  const ended = await job.run(organizationId, input, { signal, onPart })
  return ended.ok ? SourceOutcome.parse(ended.value) : failure(describeEnding(ended.error))
}
