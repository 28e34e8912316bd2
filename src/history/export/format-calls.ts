import { createThreadReader, type RawQuery } from '../../lib/db/raw-reader.ts'
import type { DatabaseTarget } from '../../lib/db/target.ts'
import { toCsvLine } from './csv.ts'
import { type ExportedCall, type ExportedRow, toExportedCall } from './export-row.ts'

export const EXPORT_FORMATS = ['csv', 'json', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** `query` selects the `EXPORTED_COLUMNS` of a limited number of calls. */
export type FormatCallsInput = { target: DatabaseTarget; query: RawQuery; format: ExportFormat }

/** Returns the calls as text. As JSON, they are members of an array without its brackets. */
const format = (calls: readonly ExportedCall[], as: ExportFormat): string => {
  switch (as) {
    case 'csv':
      return calls.map(toCsvLine).join('')
    case 'ndjson':
      return calls.map(call => `${JSON.stringify(call)}\n`).join('')
    case 'json':
      return calls.map(call => JSON.stringify(call)).join(',\n')
  }
}

/** Creates the job that writes calls as text, in a thread. */
export const createCallFormatting = () => {
  const read = createThreadReader()
  return async ({ target, query, format: as }: FormatCallsInput): Promise<string> =>
    format((await read<ExportedRow>(target, query)).map(toExportedCall), as)
}
