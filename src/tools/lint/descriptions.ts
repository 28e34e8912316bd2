import { formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject } from '../../lib/kernel/json.ts'
import { CLAUDE_CODE, type Finding, OPENAI, type ShownTool } from './finding.ts'
import { splitWords } from './split-words.ts'

/**
 * Some OpenAI models, and services compatible with OpenAI, reject longer descriptions.
 * Sources: github.com/getsentry/sentry-mcp/issues/106, github.com/run-llama/llama_index/pull/18784
 */
const OPENAI_CHARS = 1_024
/** Number of characters that Claude Code shows to its model. Source: github.com/anthropics/claude-code/issues/87650 */
const CLAUDE_CODE_CHARS = 2_048
/** A description with fewer words than this adds nothing to the name. */
const FEW_WORDS = 4

const lintLength = (description: string): Finding[] => {
  if (description.length <= OPENAI_CHARS) return []
  const isCut = description.length > CLAUDE_CODE_CHARS
  const cut = isCut ? ` Claude Code cuts it off after ${formatNumber(CLAUDE_CODE_CHARS)}.` : ''
  return [
    {
      rule: 'long-description',
      level: 'warning',
      field: 'description',
      message: `It has ${formatNumber(description.length)} characters. Some OpenAI models and compatible services reject more than ${formatNumber(OPENAI_CHARS)}.${cut}`,
      remedy:
        'Say what it does and when to use it, most important first. Move details about a parameter to that parameter.',
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
        message: 'Without a description, a model has only the name to choose by.',
        remedy: 'Describe in a sentence or two what it does and when to use it.',
      },
    ]
  const long = lintLength(description)
  const words = splitWords(description)
  const inName = new Set(splitWords(name))
  if (words.length >= FEW_WORDS && words.some(word => !inName.has(word))) return long
  return [
    ...long,
    {
      ...common,
      rule: 'short-description',
      level: 'hint',
      message: 'The description says little more than the name.',
      remedy: 'Say when to use it and what it returns.',
    },
  ]
}

/** Reports parameters without a description, except references. */
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
        message: `The parameter "${parameter}" has no description.`,
        remedy: 'Describe what it means and, if it is not obvious, the format of its values.',
        clients: [],
      },
    ]
  })
}
