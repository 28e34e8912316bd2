import type { ConfigVariable, GlobalDraft } from '../config-files/index.ts'
import { askForEnvironment, askForValue } from './import-questions.ts'
import { readReferred } from './read-variable.ts'

/** Values of those globals that have one: of the file, the environment with consent, whoever is asked, or the default. */
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
