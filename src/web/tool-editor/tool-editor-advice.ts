import type { Finding } from '../../tools/lint/finding.ts'

/** What stands beside a field without keeping anything from being saved. */
export type Advice = { tone: 'warn' | 'hint'; text: string }
/** By the field of the form; that of a parameter's description holds all that is said of it. */
export type PlacedAdvice = ReadonlyMap<string, readonly Advice[]>

/** What is said of all of the tool, beside what the model is shown. */
export const WHOLE_TOOL = 'seen'

const fieldOf = ({ field, parameter }: Finding, hasOwnSchema: boolean): string => {
  if (field === 'cost') return WHOLE_TOOL
  if (field === 'inputSchema' && hasOwnSchema) return field
  if (parameter !== undefined) return `parameter:${parameter}:description`
  // Of a schema that the parameters make, no field says more of it.
  return field === 'inputSchema' ? WHOLE_TOOL : field
}

/** Puts each finding beside the field where it is mended; of an empty name its own field says enough. */
export const placeAdvice = (
  findings: readonly Finding[],
  { hasOwnSchema, isNamed }: { hasOwnSchema: boolean; isNamed: boolean },
): PlacedAdvice => {
  const placed = new Map<string, Advice[]>()
  for (const finding of findings) {
    const { level, parameter, message, remedy } = finding
    const field = fieldOf(finding, hasOwnSchema)
    if (field === 'name' && !isNamed) continue
    const where = field === 'inputSchema' && parameter !== undefined ? `${parameter}: ` : ''
    const advice: Advice = { tone: level === 'hint' ? 'hint' : 'warn', text: `${where}${message} ${remedy}` }
    placed.set(field, [...(placed.get(field) ?? []), advice])
  }
  return placed
}
