import { timeText } from '../../lib/http/pages/time-text.ts'
import type { AppError } from '../../lib/kernel/errors.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import { type ServerFrame, serverTabPath } from '../frame/server-frame.ts'
import {
  byParameter,
  compareTyped,
  type Finding,
  type Findings,
  findFindings,
  lostParameters,
  type OpenInstance,
  toParameterFields,
  toSeen,
} from './instance.view.ts'
import type { TypedInstance } from './instance-form.ts'
import { instancePath } from './tools.pages.ts'

/** What the form shows besides what is typed. */
export type Shown = {
  problem?: string | undefined
  /** Beside the fields that are there for every tool. */
  errors?: Readonly<Record<string, string>>
  findings?: Findings
  isConflict?: boolean
  /** When the one who sends the form again has seen what it would write over. */
  version?: Date | undefined
  /** Whose text the browser keeps until it is saved. */
  draftOwner?: string
  /** It was sent, and is not saved. */
  isUnsaved?: boolean
  done?: string | undefined
}

type PlacedErrors = Required<Pick<Shown, 'errors' | 'findings'>> & Pick<Shown, 'problem'>

/** What the fields beside the wiring are called in a sentence. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  maxResponseTokens: 'number of tokens',
}

/** Where an error of the service belongs: beside a field, beside a parameter, or above them all. */
export const placeErrors = ({ errors = [], message }: AppError): PlacedErrors => {
  const ofParameters = errors.flatMap(({ path, message: text }): [string, Finding][] => {
    const parameter = /^(?:bindings|newGlobals)\.(.*)$/s.exec(path)?.[1]
    return parameter === undefined ? [] : [[parameter, { tone: 'danger', text }]]
  })
  const ofFields = errors.flatMap(({ path, message: text }) =>
    Object.hasOwn(FIELDS, path) ? [[path, `The ${FIELDS[path]} ${text}.`] as const] : [],
  )
  return {
    errors: Object.fromEntries(ofFields),
    findings: byParameter(ofParameters),
    problem: ofFields.length + ofParameters.length === 0 ? message : undefined,
  }
}

/** What was found by looking at the form, and what the service said besides. */
const joinFindings = (found: Findings, said: Findings): Findings =>
  new Map(
    [...new Set([...found.keys(), ...said.keys()])].map(name => {
      const own = found.get(name) ?? []
      // The check of a binding says the same as the service does.
      return [name, own.some(({ tone }) => tone === 'danger') ? own : [...own, ...(said.get(name) ?? [])]]
    }),
  )

const BUDGET_HINT =
  'Left empty, as the server says; 0 sends everything. What is not sent of a longer answer is kept for five minutes.'
const SCHEMA_HINT =
  ' With a number, clients are shown the tool without its output schema, which the beginning of an answer would not fit.'

/** Everything that the page of an instance shows. */
export const toInstancePage = async (
  server: ServerFrame,
  opened: OpenInstance,
  typed: TypedInstance,
  shown: Shown,
  countTokens: TokenCounter,
) => {
  const { instance } = opened
  const path = instancePath(server.id, instance.id)
  const findings = joinFindings(findFindings(opened, typed), shown.findings ?? new Map())
  return {
    title: `${instance.name} in ${server.name}`,
    server,
    scripts: ['drafts'],
    draftOwner: shown.draftOwner,
    isUnsaved: shown.isUnsaved ?? false,
    draftsDone: shown.done === undefined ? undefined : path,
    path,
    toolsHref: serverTabPath(server.id, 'tools'),
    globalsHref: serverTabPath(server.id, 'globals'),
    instance: {
      name: instance.name,
      toolName: instance.tool.name,
      method: instance.tool.method,
      url: instance.tool.url,
      toolDescription: instance.tool.description,
      toolHref: instance.tool.originId === undefined ? `/tools/${instance.tool.id}` : undefined,
      changed: timeText(instance.updatedAt),
      changedAt: instance.updatedAt.toISOString(),
    },
    typed: { name: typed.name, description: typed.description, maxResponseTokens: typed.maxResponseTokens },
    budgetHint: BUDGET_HINT + (instance.tool.outputSchema === undefined ? '' : SCHEMA_HINT),
    version: (shown.version ?? instance.updatedAt).toISOString(),
    parameters: toParameterFields(opened, typed, findings),
    lost: lostParameters(opened).join(', '),
    seen: await toSeen(opened, typed, countTokens),
    errors: shown.errors ?? {},
    problem: shown.problem,
    done: shown.done,
    versions: shown.isConflict ? compareTyped(opened, typed) : undefined,
  }
}
