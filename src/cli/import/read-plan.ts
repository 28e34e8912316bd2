import type { ReadRefusal, ReadTool } from '../../imports/import.ts'
import type { SourceJob } from '../../imports/read-source.ts'
import { describeEnding, runSourceJob } from '../../imports/reading/source-job.ts'
import { type SourceEnd, type SourceHead, SourcePart } from '../../imports/source-parts.ts'
import { createJobPool } from '../../jobs/job-pool.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import type { LeftOut } from './choose-operations.ts'

/** The result of `--plan`: the source, and the tools that an import would create. */
export type SourcePlan<Tool> = {
  head: SourceHead
  end: SourceEnd
  tools: readonly Tool[]
  /** Operations that cannot be imported, with the reason as a sentence. */
  refused: readonly ReadRefusal[]
}

/** The plan of an import, with what it leaves out unless the user chooses it. */
export type ChosenPlan<Tool> = SourcePlan<Tool> & { leftOut: readonly LeftOut[] }

/**
 * Reads a source as an import does, in a process with limits of its own. `toPlanned` returns what the plan needs of a
 * tool, because all definitions of a large source would take much memory. Throws an error with the reason if the source
 * cannot be read.
 */
export const readPlan = async <Tool>(
  source: SourceJob,
  toPlanned: (operation: ReadTool) => Tool,
): Promise<SourcePlan<Tool>> => {
  const pool = createJobPool({ memory: loadSettings().memory })
  const jobs = { description: pool.job('read-description'), collection: pool.job('read-collection') }
  const plan: { head?: SourceHead; tools: Tool[]; refused: ReadRefusal[] } = { tools: [], refused: [] }
  const onPart = async (text: string): Promise<void> => {
    const part = SourcePart.parse(JSON.parse(text))
    if ('head' in part) Object.assign(plan, { head: part.head, tools: [], refused: [] })
    else {
      for (const operation of part.operations) {
        if ('tool' in operation) plan.tools.push(toPlanned(operation))
        else plan.refused.push(operation)
      }
    }
  }
  try {
    const end = await runSourceJob(jobs, source, {
      organizationId: 'cli',
      signal: new AbortController().signal,
      onPart,
    })
    if (!end.ok) throw new AppError('invalid_request', end.error)
    const { head, tools, refused } = plan
    if (head === undefined) throw new AppError('unavailable', describeEnding('closed'))
    return { head, tools, refused, end: end.value }
  } finally {
    await pool.close()
  }
}
