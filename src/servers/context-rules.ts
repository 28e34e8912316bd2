import { z } from 'zod'
import { wholeNumberRule } from '../lib/kernel/whole-number.ts'
import { DEFAULT_RESPONSE_TOKENS, responseTokens } from '../tools/response/response-tokens.ts'

/** How a server spends the context of the models that use it. */
export type ContextRules = {
  /** Tokens of an answer that are sent at most; the rest is kept for the calls that ask for it. 0: all is sent. */
  maxResponseTokens: number
  /** What the last line of a cut answer says, in place of our own words. */
  cutNotice: string | undefined
  /** Whether large lists of like objects are sent as compact tables. */
  compactTables: boolean
  /** With the presentation `search`: names of the tools that are shown in full. */
  pinnedTools: readonly string[]
  /** With the presentation `auto`: as many tokens of tools are shown flat. */
  maxFlatTokens: number
}

const MAX_NOTICE_CHARS = 500
const MAX_PINNED_TOOLS = 100
const MAX_TOOL_NAME_CHARS = 300
const DEFAULT_FLAT_TOKENS = 4_000
const MAX_FLAT_TOKENS = 1_000_000

/** Where the id of the kept answer stands in a notice of the builder's own. */
export const CACHE_ID_PLACE = '{cache_id}'

const cutNotice = z
  .string()
  .trim()
  .max(MAX_NOTICE_CHARS, `is longer than ${MAX_NOTICE_CHARS} characters`)
  .refine(text => !/[\r\n]/.test(text), 'is more than one line')
  .refine(text => text === '' || text.includes(CACHE_ID_PLACE), `must hold ${CACHE_ID_PLACE}: the model needs the id`)

const pinnedTools = z.array(z.string().min(1).max(MAX_TOOL_NAME_CHARS)).max(MAX_PINNED_TOOLS)
const FLAT_RULE = wholeNumberRule('', 0, MAX_FLAT_TOKENS)
const maxFlatTokens = z.int(FLAT_RULE).min(0, FLAT_RULE).max(MAX_FLAT_TOKENS, FLAT_RULE)

/** In the API, each with what it says. */
export const contextShape = {
  maxResponseTokens: responseTokens.describe(
    'tokens of an answer that are sent at most; the rest is kept for proxy_filter, proxy_search and proxy_explore; 0: all is sent',
  ),
  cutNotice: cutNotice
    .nullable()
    .describe(`the line by which a cut answer says how to go on; holds ${CACHE_ID_PLACE}; null: our own words`),
  compactTables: z.boolean().describe('whether large lists of like objects are sent as compact tables'),
  pinnedTools: pinnedTools.describe('with the presentation search: names of the tools that are shown in full'),
  maxFlatTokens: maxFlatTokens.describe('with the presentation auto: as many tokens of tools are shown flat'),
}

export const createContextShape = {
  maxResponseTokens: contextShape.maxResponseTokens.default(DEFAULT_RESPONSE_TOKENS),
  cutNotice: contextShape.cutNotice.default(null),
  compactTables: contextShape.compactTables.default(false),
  pinnedTools: contextShape.pinnedTools.default([]),
  maxFlatTokens: contextShape.maxFlatTokens.default(DEFAULT_FLAT_TOKENS),
}

export const updateContextShape = {
  maxResponseTokens: contextShape.maxResponseTokens.optional(),
  cutNotice: contextShape.cutNotice.optional(),
  compactTables: contextShape.compactTables.optional(),
  pinnedTools: contextShape.pinnedTools.optional(),
  maxFlatTokens: contextShape.maxFlatTokens.optional(),
}

/** As the API takes and the database holds them; what is left out stays, or is what a new server has. */
export type ContextWish = {
  maxResponseTokens?: number | undefined
  cutNotice?: string | null | undefined
  compactTables?: boolean | undefined
  pinnedTools?: string[] | undefined
  maxFlatTokens?: number | undefined
}

type ContextColumns = {
  maxResponseTokens: number
  cutNotice: string | null
  compactTables: boolean
  pinnedTools: unknown
  maxFlatTokens: number
}

export const toContextColumns = (wish: ContextWish) => ({
  ...(wish.maxResponseTokens !== undefined && { maxResponseTokens: wish.maxResponseTokens }),
  ...(wish.cutNotice !== undefined && { cutNotice: wish.cutNotice === '' ? null : wish.cutNotice }),
  ...(wish.compactTables !== undefined && { compactTables: wish.compactTables }),
  ...(wish.pinnedTools !== undefined && { pinnedTools: [...new Set(wish.pinnedTools)] }),
  ...(wish.maxFlatTokens !== undefined && { maxFlatTokens: wish.maxFlatTokens }),
})

export const toContextRules = (row: ContextColumns): ContextRules => ({
  maxResponseTokens: row.maxResponseTokens,
  cutNotice: row.cutNotice ?? undefined,
  compactTables: row.compactTables,
  pinnedTools: Array.isArray(row.pinnedTools) ? row.pinnedTools.filter(name => typeof name === 'string') : [],
  maxFlatTokens: row.maxFlatTokens,
})

export const toContextView = (rules: ContextRules) => ({
  maxResponseTokens: rules.maxResponseTokens,
  cutNotice: rules.cutNotice ?? null,
  compactTables: rules.compactTables,
  pinnedTools: [...rules.pinnedTools],
  maxFlatTokens: rules.maxFlatTokens,
})
