import type { Finding } from '../../tools/lint/finding.ts'

/** A message beside a field that does not prevent saving. */
export type Advice = { tone: 'warn' | 'hint'; text: string }
/** Advice by form field. Advice on a parameter is shown beside the parameter's description. */
export type PlacedAdvice = ReadonlyMap<string, readonly Advice[]>

/** Key for advice on the whole tool, which is shown beside the definition that the model sees. */
export const WHOLE_TOOL = 'seen'

const fieldOf = ({ field, parameter }: Finding, hasOwnSchema: boolean): string => {
  if (field === 'cost') return WHOLE_TOOL
  if (field === 'inputSchema' && hasOwnSchema) return field
  if (parameter !== undefined) return `parameter:${parameter}:description`
  // A generated input schema has no field of its own.
  return field === 'inputSchema' ? WHOLE_TOOL : field
}

/** Assigns each finding to the field where it can be fixed. An empty name gets no advice. */
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
