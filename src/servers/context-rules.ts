import { z } from 'zod'
import { wholeNumberRule } from '../lib/kernel/whole-number.ts'
import { DEFAULT_RESPONSE_TOKENS, responseTokens } from '../tools/response/response-tokens.ts'

/** Whether lists contain the tools that read cut results. `auto`: unless every tool has proved small. */
export const CUT_RESULT_TOOLS = ['auto', 'always', 'never'] as const
export type CutResultTools = (typeof CUT_RESULT_TOOLS)[number]

/** How a server limits the token cost of its tools and results. */
export type ContextRules = {
  /** Token budget of one result. Further calls can fetch the rest. 0 means no limit. */
  maxResponseTokens: number
  /** Custom text for the first line of a result that was cut. */
  cutNotice: string | undefined
  cutResultTools: CutResultTools
  /** Whether long lists of similar objects are sent as compact tables. */
  compactTables: boolean
  /** Names of the tools that the presentation `search` lists in full. */
  pinnedTools: readonly string[]
  /** Maximum token cost at which the presentation `auto` lists all tools. */
  maxFlatTokens: number
}

const MAX_NOTICE_CHARS = 500
const MAX_PINNED_TOOLS = 100
const MAX_TOOL_NAME_CHARS = 300
const DEFAULT_FLAT_TOKENS = 4_000
const MAX_FLAT_TOKENS = 1_000_000

/** Placeholder for the stored result's ID in a custom notice. */
export const CACHE_ID_PLACEHOLDER = '{cache_id}'

const cutNotice = z
  .string()
  .trim()
  .max(MAX_NOTICE_CHARS, `is longer than ${MAX_NOTICE_CHARS} characters`)
  .refine(text => !/[\r\n]/.test(text), 'must be a single line')
  .refine(
    text => text === '' || text.includes(CACHE_ID_PLACEHOLDER),
    `must contain ${CACHE_ID_PLACEHOLDER}, because the model needs the id`,
  )

const pinnedTools = z.array(z.string().min(1).max(MAX_TOOL_NAME_CHARS)).max(MAX_PINNED_TOOLS)
const FLAT_RULE = wholeNumberRule('', 0, MAX_FLAT_TOKENS)
const maxFlatTokens = z.int(FLAT_RULE).min(0, FLAT_RULE).max(MAX_FLAT_TOKENS, FLAT_RULE)

export const contextShape = {
  maxResponseTokens: responseTokens.describe(
    'most tokens of a result that are sent; proxy_filter, proxy_search and proxy_explore return the rest; 0 for no limit',
  ),
  cutNotice: cutNotice
    .nullable()
    .describe(
      `first line of a cut result, which tells the model how to get the rest; must contain ${CACHE_ID_PLACEHOLDER}; null for the default`,
    ),
  cutResultTools: z
    .enum(CUT_RESULT_TOOLS)
    .describe(
      'whether the tools that read cut results are listed: auto (unless the responses of every tool have proved small), always or never; they can be called in any case',
    ),
  compactTables: z.boolean().describe('whether long lists of similar objects are sent as compact tables'),
  pinnedTools: pinnedTools.describe('names of the tools that the presentation search lists in full'),
  maxFlatTokens: maxFlatTokens.describe('tokens up to which the presentation auto lists all tools'),
}

export const createContextShape = {
  maxResponseTokens: contextShape.maxResponseTokens.default(DEFAULT_RESPONSE_TOKENS),
  cutNotice: contextShape.cutNotice.default(null),
  cutResultTools: contextShape.cutResultTools.default('auto'),
  compactTables: contextShape.compactTables.default(false),
  pinnedTools: contextShape.pinnedTools.default([]),
  maxFlatTokens: contextShape.maxFlatTokens.default(DEFAULT_FLAT_TOKENS),
}

/** Parses the names in the `pinnedTools` column. */
export const pinnedToolsIn = (stored: unknown): string[] =>
  Array.isArray(stored) ? stored.filter(name => typeof name === 'string') : []
