import { formatNumber } from '../../lib/kernel/format.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { type CurlCommand, readCurls } from '../../tools/import/curl-request.ts'
import { withPlaceholders } from '../../tools/import/read-pasted.ts'
import { isSecretValue } from '../../tools/import/secret-values.ts'
import type { MappedSource } from '../mapped-source.ts'
import type { OperationSource, RefusedOperation } from '../openapi/imported-operation.ts'
import { type DraftedRequest, draftOrRefuse } from '../requests/draft-operation.ts'
import { bindSecrets, importDrafts } from '../requests/import-drafts.ts'
import { createMembers } from '../requests/members.ts'
import { parameterizeRequest } from '../requests/parameterize-request.ts'
import { createOperationKeys, describeTarget } from '../requests/request-key.ts'

/** Maximum number of commands: as many as a toolkit can have tools. */
const MAX_COMMANDS = 2_000

const NAMELESS: Omit<OperationSource, 'key' | 'method' | 'path'> = {
  operationId: undefined,
  summary: undefined,
  tags: [],
  deprecated: false,
}

type KeyOf = ReturnType<typeof createOperationKeys>

const draftCommand = ({ line, request: read }: CurlCommand, keyOf: KeyOf): DraftedRequest | RefusedOperation => {
  if (!read.ok) {
    const key = `Command on line ${formatNumber(line)}`
    return { ...NAMELESS, key, method: '', path: '', reason: `It cannot be read: ${read.error.message}.` }
  }
  const members = createMembers()
  const isSecret = isSecretValue
  const request = parameterizeRequest(withPlaceholders(read.value), { members, isSecret })
  const target = describeTarget(request)
  return draftOrRefuse({ ...NAMELESS, ...target, key: keyOf(target), request, metas: members.metas(), isSecret })
}

/** Maps all curl commands of a text. Runs none of them. The error is a sentence. */
export const importCurl = async (text: string): Promise<Result<MappedSource, string>> => {
  const all = readCurls(text.replaceAll('\r\n', '\n'), MAX_COMMANDS + 1)
  const commands = all.slice(0, MAX_COMMANDS)
  if (commands.length === 0) return failure('It has no curl command. Each one starts with curl.')
  const keyOf = createOperationKeys()
  const drafts = commands.map(command => draftCommand(command, keyOf))
  const isCut = all.length > MAX_COMMANDS
  const notes = isCut ? [`Only the first ${formatNumber(MAX_COMMANDS)} commands were read.`] : []
  return success({ ...(await importDrafts(drafts, bindSecrets)), notes })
}
