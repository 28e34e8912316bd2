import type { ImportedOperation } from '../../../src/imports/openapi/imported-operation.ts'

/** What becomes of a call that is right: an HTTP status, or `refused` if Patchbay does not send the request. */
export type Expectation = number | 'accepted' | 'refused'

type Rule<Value> = readonly (readonly [pattern: RegExp, value: Value])[]

/** Operations that are not counted, with the reason. The patterns match description and operationId. */
const LEFT_OUT: Rule<string> = [
  [/^lro|^lro-parameterized-endpoints/, 'needs jobs'],
  [/^body-file /, 'needs files'],
  [/\.quirks /, 'describes operations again that another description has'],
  [
    /^(?:azure-resource|azure-resource-x|complex-model|parameter-flattening|storage) |^constants contants_put(?:No)?Model|^body-complex flatten|^media_types putTextAndJsonBody$|^validation validationOf|^model-flattening \w+WrappedArray$/,
    'the server has no such route',
  ],
  [
    /^azure-special-properties (?:subscriptionIn|xMsClientRequestId_get$)|^header header_customRequestId$|^error-with-secrets CreateSecret$/,
    'the server wants what the description does not have',
  ],
  [/^body-complex (?:array|dictionary)_putValid$/, 'the server wants null where the description does not allow it'],
]

/** Scenarios whose request a client must not send, because a required value is missing. */
const REFUSED =
  /^url paths_\w+Null$|^body-complex polymorphism_putValidMissingRequired$|^required-optional (?:explicit_postRequired|implicit_getRequired)|^azure-special-properties subscriptionInMethod_postMethodLocalNull$/

/** Statuses of responses that the scenario wants, although they say that something is wrong. */
const STATUSES: Rule<number> = [
  [/^xms-error-responses Pet_GetPetById [34]$/, 404],
  [/^xms-error-responses Pet_GetPetById 5$/, 400],
  [/^xms-error-responses Pet_GetPetById 6$/, 501],
  [/^xms-error-responses Pet_DoSomething 2$/, 500],
  [/^xms-error-responses Pet_DoSomething 3$/, 404],
  [/^xms-error-responses Pet_HasModelsParam$/, 500],
  [/^httpInfrastructure httpFailure_get|^body-binary Download_ErrorStream$|^paging Paging_getSinglePagesFailure$/, 400],
  [/^paging Paging_getMultiplePagesRetryFirst$/, 500],
  [/^error-with-secrets GetErrorWithSecrets$/, 403],
  [/^incorrect-error-response /, 444],
]

/** Paths that name the status of their response. Retries count as well: Patchbay leaves them to the model. */
const STATUS_IN_PATH =
  /^\/http\/(?:success|failure\/client|failure\/server|retry|redirect)\/(\d{3})$|\/response\/(\d{3})\//

/** Calls that the server does not accept as it should, with the reason. The list is closed. */
const WRONG: Rule<string> = [
  [/ skipUrlEncoding_get\w+QueryValid$/, 'a value of the query that is not encoded could add parameters'],
  [
    / header_paramProtectedKey$/,
    'a header Content-Type that is described as a parameter is ignored (OpenAPI 3.0.3 §4.7.12.1)',
  ],
  [/ httpRedirects_(?:put301|patch302)$/, 'redirects are followed with every method (RFC 9110 §15.4 allows it)'],
  [/ patchSingle$/, 'the server counts the bytes of JSON with a blank in it'],
  [/ paths_(?:string|byte)Empty$/, 'a segment of a path cannot be empty'],
  [
    / queries_ArrayStringSsvValid$/,
    'a member of a list with spaces between cannot contain one (OpenAPI 3.1.1 appendix E)',
  ],
]

/** Returns why a call is not right, or undefined if it has to be. */
export const reasonToBeWrong = (key: string): string | undefined => WRONG.find(([pattern]) => pattern.test(key))?.[1]

/** Returns why an operation is not counted, or undefined if it is. */
export const reasonToLeaveOut = (key: string, operation: ImportedOperation): string | undefined =>
  'reason' in operation ? 'needs files' : LEFT_OUT.find(([pattern]) => pattern.test(key))?.[1]

export const expectationOf = (key: string, { path }: ImportedOperation): Expectation => {
  if (REFUSED.test(key)) return 'refused'
  const [, own, response] = STATUS_IN_PATH.exec(path) ?? []
  const isRedirect = path.startsWith('/http/redirect/') && own !== '300'
  const inPath = Number(isRedirect ? 200 : (own ?? response ?? 0))
  return STATUSES.find(([pattern]) => pattern.test(key))?.[1] ?? (inPath >= 300 ? inPath : 'accepted')
}
