import type { ConfigVariable } from '../config-files/config-text.ts'
import type { GlobalDraft } from '../config-files/draft-upstreams.ts'
import { readReferred } from '../read-variable.ts'
import { askForEnvironment, askForValue } from './import-questions.ts'

/** Collects the values of globals: from the file, from the environment with consent, by asking, or from the default. */
export const collectValues = async (
  globals: readonly GlobalDraft[],
  known: ReadonlySet<string>,
  { isInteractive, fromEnvironment }: { isInteractive: boolean; fromEnvironment: boolean },
): Promise<Map<string, string>> => {
  const values = new Map<string, string>()
  const open: { draft: GlobalDraft; variable: ConfigVariable }[] = []
  for (const draft of globals.filter(({ key }) => !known.has(key))) {
    if (draft.from.kind === 'file') values.set(draft.key, draft.from.value)
    else open.push({ draft, variable: draft.from.variable })
  }
  const there = open.filter(({ variable }) => readReferred(variable))
  const mayTake =
    fromEnvironment ||
    (there.length > 0 && isInteractive && (await askForEnvironment(there.map(({ variable }) => variable.name))))
  for (const { draft, variable } of open) {
    const taken = mayTake ? readReferred(variable) : undefined
    const value =
      taken || (isInteractive ? await askForValue(variable, draft.isSecret) : undefined) || variable.fallback
    if (value !== undefined) values.set(draft.key, value)
  }
  return values
}
