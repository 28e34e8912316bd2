import { z } from 'zod'
import { formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { compareVersions, type Versions } from '../../lib/http/versions.ts'
import { definedFields } from '../../lib/kernel/missing.ts'
import { ACCESS_TIERS, type Server } from '../../servers/server.ts'
import { CreateServer, type ServerChanges } from '../../servers/servers.schema.ts'
import { PublicStepForm } from '../access/public-step.ts'
import { descriptionOf } from '../toolkits/toolkit-form.ts'
import { LIMITS_LABELS, LimitsInput } from './limits-form.ts'
import { PRESENTATION_LABELS, PresentationInput, presentationText } from './presentation-form.ts'

/** Undefined if the form does not have the field, so that the setting stays unchanged. */
const textIfSent = z.string().optional().catch(undefined)

const TEXTS = {
  name: textIfSent,
  description: textIfSent,
  access: textIfSent,
  presentation: textIfSent,
  pinnedTools: textIfSent,
  maxFlatTokens: textIfSent,
  maxResponseTokens: textIfSent,
  cutNotice: textIfSent,
  cutResultTools: textIfSent,
}
const SWITCHES = {
  allowAnyOrigin: formText,
  compactTables: formText,
  storesBodies: formText,
  reviewUpstreamChanges: formText,
}

/** The form for all settings of a server. `switches` names its checkboxes, because browsers send only those that are on. */
export const SettingsForm = { ...TEXTS, ...SWITCHES, switches: formText, version: formText, ...PublicStepForm }
type SentSettings = z.output<z.ZodObject<typeof SettingsForm>>

/** The settings as text. A switch is `on` or empty. */
export type TypedSettings = Record<keyof typeof TEXTS | keyof typeof SWITCHES | 'version', string>

/** Field names as used in sentences. */
export const SETTINGS_LABELS = {
  name: 'name',
  description: 'description',
  access: 'tier',
  ...LIMITS_LABELS,
  ...PRESENTATION_LABELS,
}

const box = (isOn: boolean): string => (isOn ? 'on' : '')

export const typedOf = (server: Server): TypedSettings => ({
  name: server.name,
  description: server.description ?? '',
  access: server.access,
  presentation: server.presentation,
  pinnedTools: server.pinnedTools.join('\n'),
  maxFlatTokens: String(server.maxFlatTokens),
  maxResponseTokens: String(server.maxResponseTokens),
  cutNotice: server.cutNotice ?? '',
  cutResultTools: server.cutResultTools,
  allowAnyOrigin: box(server.allowAnyOrigin),
  compactTables: box(server.compactTables),
  storesBodies: box(server.storesBodies),
  reviewUpstreamChanges: box(server.reviewUpstreamChanges),
  version: server.updatedAt.toISOString(),
})

/** Returns the settings as typed, with the saved value of each that the form does not have. */
export const fillSettings = (sent: SentSettings, saved: TypedSettings): TypedSettings => {
  const { switches, sure: _sure, step: _step, ...typed } = sent
  const shown = new Set(switches.split(' '))
  const textOf = (name: keyof typeof SWITCHES): string => (shown.has(name) ? sent[name] : saved[name])
  return {
    ...saved,
    ...definedFields(typed),
    allowAnyOrigin: textOf('allowAnyOrigin'),
    compactTables: textOf('compactTables'),
    storesBodies: textOf('storesBodies'),
    reviewUpstreamChanges: textOf('reviewUpstreamChanges'),
  }
}

const SettingsInput = z.object({
  name: CreateServer.shape.name,
  description: CreateServer.shape.description,
  access: z.enum(ACCESS_TIERS, 'must be public, organization or private'),
  ...PresentationInput.shape,
  ...LimitsInput.shape,
})

/**
 * Reads the form. Leaves out the tier if it is the saved one, because setting it answers the question whether it should
 * stay. Throws `invalid_request` with an error for each invalid field.
 */
export const readSettings = (typed: TypedSettings, saved: Pick<Server, 'access'>): ServerChanges => {
  const { access, description, ...input } = parseInput(SettingsInput, {
    ...typed,
    description: descriptionOf(typed.description),
  })
  return {
    ...input,
    description: description ?? null,
    compactTables: typed.compactTables === 'on',
    storesBodies: typed.storesBodies === 'on',
    reviewUpstreamChanges: typed.reviewUpstreamChanges === 'on',
    // The server ends it if the tier is no longer public.
    ...(access === 'public' && { allowAnyOrigin: typed.allowAnyOrigin === 'on' }),
    ...(access !== saved.access && { access }),
  }
}

const toState = (typed: string): string => (typed === 'on' ? 'on' : 'off')

const COMPARED: readonly [label: string, textOf: (typed: TypedSettings) => string][] = [
  ['Name', ({ name }) => name.trim()],
  ['Description', ({ description }) => descriptionOf(description) ?? ''],
  ['Who can use it', ({ access }) => access],
  ['Any website may call it', ({ allowAnyOrigin }) => toState(allowAnyOrigin)],
  ['Presentation', ({ presentation }) => presentationText(presentation)],
  ['Pinned tools', ({ pinnedTools }) => pinnedTools],
  ['Token threshold', ({ maxFlatTokens }) => maxFlatTokens],
  ['Max response tokens', ({ maxResponseTokens }) => maxResponseTokens],
  ['Truncation notice', ({ cutNotice }) => cutNotice],
  ['Tools for long results', ({ cutResultTools }) => cutResultTools],
  ['Lists as tables', ({ compactTables }) => toState(compactTables)],
  ['Bodies of calls', ({ storesBodies }) => toState(storesBodies)],
  ['Review of MCP servers', ({ reviewUpstreamChanges }) => toState(reviewUpstreamChanges)],
]

/** Compares the settings as typed with those that somebody else has saved. Lists only the settings that differ. */
export const compareSettings = (mine: TypedSettings, theirs: TypedSettings): Versions => {
  const texts = COMPARED.map(([label, textOf]) => ({ label, mine: textOf(mine), theirs: textOf(theirs) }))
  return { ...compareVersions(texts), same: [] }
}
