import type { AppError } from '../../lib/kernel/errors.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import { type ServerFrame, serverTabPath } from '../frame/server-frame.ts'
import {
  byParameter,
  compareWithSaved,
  type Finding,
  type Findings,
  findFindings,
  type OpenInstance,
  removedParameters,
  toDefinitionPreview,
  toParameterFields,
} from './instance.view.ts'
import type { InstanceForm } from './instance-form.ts'
import { instancePath } from './tools.pages.ts'

/** The outcome of the last submission, shown with the form. */
export type FormOutcome = {
  problem?: string | undefined
  /** Errors by field: name, description or maxResponseTokens. */
  errors?: Readonly<Record<string, string>>
  findings?: Findings
  isConflict?: boolean
  /** The version that the next submission may overwrite. */
  version?: Date | undefined
  /** ID of the user who owns the draft stored in the browser. */
  draftOwner?: string
  /** Whether the form was submitted but not saved. */
  isUnsaved?: boolean
  done?: string | undefined
}

type PlacedErrors = Required<Pick<FormOutcome, 'errors' | 'findings'>> & Pick<FormOutcome, 'problem'>

/** Field names as used in sentences. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  maxResponseTokens: 'number of tokens',
}

/** Assigns each error to a field or a parameter. If there is neither, shows the message above the form. */
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

/** Merges the findings from the form's own checks with the errors from the service. */
const joinFindings = (found: Findings, returned: Findings): Findings =>
  new Map(
    [...new Set([...found.keys(), ...returned.keys()])].map(name => {
      const own = found.get(name) ?? []
      // The form and the service both check the bindings and would report the same error twice.
      return [name, own.some(({ tone }) => tone === 'danger') ? own : [...own, ...(returned.get(name) ?? [])]]
    }),
  )

const BUDGET_HINT =
  'Leave empty to use the server’s setting; 0 means no limit. The rest of a cut result is stored for five minutes.'
const SCHEMA_HINT =
  ' With a limit, clients see the tool without its output schema, because a cut result would not match it.'

export const toInstancePage = async (
  server: ServerFrame,
  opened: OpenInstance,
  typed: InstanceForm,
  outcome: FormOutcome,
  countTokens: TokenCounter,
) => {
  const { instance } = opened
  const path = instancePath(server.id, instance.id)
  const findings = joinFindings(findFindings(opened, typed), outcome.findings ?? new Map())
  return {
    title: `${instance.name} in ${server.name}`,
    server,
    draftOwner: outcome.draftOwner,
    isUnsaved: outcome.isUnsaved ?? false,
    draftsDone: outcome.done === undefined ? undefined : path,
    path,
    toolsHref: serverTabPath(server.id, 'tools'),
    globalsHref: serverTabPath(server.id, 'globals'),
    instance: {
      name: instance.name,
      isEnabled: instance.isEnabled,
      toolName: instance.tool.name,
      method: instance.tool.method,
      url: instance.tool.url,
      toolDescription: instance.tool.description,
      toolHref: instance.tool.originId === undefined ? `/tools/${instance.tool.id}?as=${instance.serverId}` : undefined,
    },
    typed: { name: typed.name, description: typed.description, maxResponseTokens: typed.maxResponseTokens },
    budgetHint: BUDGET_HINT + (instance.tool.outputSchema === undefined ? '' : SCHEMA_HINT),
    version: (outcome.version ?? instance.updatedAt).toISOString(),
    parameters: toParameterFields(opened, typed, findings),
    removedParameters: removedParameters(opened).join(', '),
    seen: await toDefinitionPreview(opened, typed, countTokens),
    errors: outcome.errors ?? {},
    problem: outcome.problem,
    done: outcome.done,
    versions: outcome.isConflict ? compareWithSaved(opened, typed) : undefined,
  }
}
