import type { ImportSettings } from '../../src/imports/import.ts'
import { sealSecrets } from '../../src/imports/import-secrets.ts'
import { type JsonObject, toJsonObject } from '../../src/lib/kernel/json.ts'
import type { Services } from '../../src/services.ts'
import { document, isTool, readAll } from './reading.ts'

export type ReviewOptions = {
  settings?: Partial<ImportSettings>
  secrets?: Readonly<Record<string, string>>
  isSelected?: (key: string) => boolean
}

/** Stores the review of a description, as reading it does, and returns its ID. */
export const storeReview = async (
  { db, sealing }: Pick<Services, 'db' | 'sealing'>,
  { toolkitId, userId }: { toolkitId: string; userId: string },
  description: JsonObject,
  { settings = {}, secrets = {}, isSelected = () => true }: ReviewOptions = {},
): Promise<string> => {
  const { summary, operations, outcome } = await readAll([document(description)])
  const toolkit = await db.toolkit.findUniqueOrThrow({ where: { id: toolkitId } })
  const { format, title, version, webhooks } = summary
  const globals = summary.secrets.map(({ key, asks }) => ({ key, asks, isSecret: true, origins: [] }))
  const { id } = await db.import.create({
    data: {
      toolkitId,
      createdById: userId,
      kind: 'openapi',
      state: 'ready',
      sha256: 'a'.repeat(64),
      summary: toJsonObject({
        ...{ format, title, version, webhooks, globals },
        baseUrls: outcome.baseUrls,
        ...{ notes: [], tags: [], rules: [] },
      }),
      settings: toJsonObject({ baseUrls: {}, variables: {}, secretKeys: Object.keys(secrets), ...settings }),
      needs: [],
      toolkitUpdatedAt: toolkit.updatedAt,
    },
  })
  const sealed = sealSecrets(sealing, id, new Map(Object.entries(secrets)))
  if (Object.keys(secrets).length > 0) {
    await db.import.update({ where: { id }, data: { secrets: sealed.text, keyId: sealed.keyId } })
  }
  await db.importItem.createMany({
    data: operations.map((operation, position) => ({
      importId: id,
      position,
      key: operation.key,
      operationId: operation.operationId ?? null,
      method: operation.method,
      path: operation.path,
      tags: JSON.stringify(operation.tags),
      rules: '[]',
      searchText: '',
      selected: isSelected(operation.key),
      ...(isTool(operation)
        ? {
            name: operation.tool.name,
            tool: toJsonObject(operation.tool),
            tokens: operation.tokens,
            ...{ findings: [], notes: [], unsupported: [], globals: [...operation.globals] },
          }
        : { reason: operation.reason, findings: [], notes: [], globals: [], unsupported: [] }),
    })),
  })
  return id
}
