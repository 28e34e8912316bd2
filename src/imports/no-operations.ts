import type { ImportKind } from './import.ts'

const EXPECTED: Readonly<Record<Exclude<ImportKind, 'openapi'>, string>> = {
  postman: 'A Postman collection has its requests under "item".',
  curl: 'Each command starts with curl.',
  har: 'A HAR file has its requests under "log.entries". Pages, scripts, styles, images and fonts are left out.',
}

/** Returns why a description without operations cannot be imported, as sentences. `name` is that of its document. */
export const noOperations = ({ format, name, webhooks }: { format: string; name: string; webhooks: number }): string =>
  [
    `There are no operations in ${name}.`,
    `It was read as ${format}, which has them under "paths".`,
    ...(webhooks > 0 ? ['Webhooks, which the API sends, are not imported.'] : []),
  ].join(' ')

/** Returns why a source without requests cannot be imported, as sentences. `name` is that of its document. */
export const noRequests = ({
  kind,
  name = 'the source',
}: {
  kind: Exclude<ImportKind, 'openapi'>
  name?: string | undefined
}): string => `There are no requests in ${name}. ${EXPECTED[kind]}`
