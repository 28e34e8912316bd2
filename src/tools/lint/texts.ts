import { isJsonObject } from '../../lib/kernel/json.ts'
import { CLAUDE_CODE, type Finding, OPENAI, type ShownTool } from './finding.ts'
import { wordsOf } from './words.ts'

/**
 * Services that speak OpenAI's protocol refuse more, if not all of its models still do.
 * Source: github.com/getsentry/sentry-mcp/issues/106, github.com/run-llama/llama_index/pull/18784
 */
const OPENAI_CHARS = 1_024
/** Claude Code shows its model as much. Source: github.com/anthropics/claude-code/issues/87650 */
const CLAUDE_CODE_CHARS = 2_048
/** A description of fewer words says no more than the name does. */
const FEW_WORDS = 4

const countText = (chars: number): string => new Intl.NumberFormat('en').format(chars)

const lintLength = (description: string): Finding[] => {
  if (description.length <= OPENAI_CHARS) return []
  const isCut = description.length > CLAUDE_CODE_CHARS
  const cut = isCut ? ` Claude Code cuts it off after ${countText(CLAUDE_CODE_CHARS)}.` : ''
  return [
    {
      rule: 'long-description',
      level: 'warning',
      field: 'description',
      message: `It has ${countText(description.length)} characters: some of OpenAI's models and services that are built like them refuse more than ${countText(OPENAI_CHARS)}.${cut}`,
      remedy:
        'Say what it does and when to use it, the most important first; what one parameter means belongs to that parameter.',
      clients: isCut ? [CLAUDE_CODE, OPENAI] : [OPENAI],
    },
  ]
}

export const lintDescription = ({ name, description = '' }: ShownTool): Finding[] => {
  const common = { field: 'description', clients: [] } as const
  if (description.trim() === '')
    return [
      {
        ...common,
        rule: 'no-description',
        level: 'warning',
        message: 'Without a description a model has only the name to choose by.',
        remedy: 'Say in a sentence or two what it does, and when to use it.',
      },
    ]
  const long = lintLength(description)
  const words = wordsOf(description)
  const inName = new Set(wordsOf(name))
  if (words.length >= FEW_WORDS && words.some(word => !inName.has(word))) return long
  return [
    ...long,
    {
      ...common,
      rule: 'short-description',
      level: 'hint',
      message: 'The description says hardly more than the name.',
      remedy: 'Say when to use it, and what it answers.',
    },
  ]
}

/** Parameters that nothing is said of; those that a schema only refers to are left alone. */
export const lintParameters = ({ inputSchema: { properties } }: ShownTool): Finding[] => {
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([parameter, schema]): Finding[] => {
    if (!isJsonObject(schema) || '$ref' in schema) return []
    const { description } = schema
    if (typeof description === 'string' && description.trim() !== '') return []
    return [
      {
        rule: 'no-parameter-description',
        level: 'hint',
        field: 'parameters',
        parameter,
        message: `Nothing says what "${parameter}" is.`,
        remedy: 'Say what it means, and give the form of its values where that is not plain.',
        clients: [],
      },
    ]
  })
}
