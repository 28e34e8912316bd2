import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { ImportService, UnfinishedImports } from '../../imports/imports.service.ts'
import { type FormPage, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { acceptFiles } from '../../lib/http/pages/multipart-form.ts'
import type { AppError } from '../../lib/kernel/errors.ts'
import { formatBytes, formatCount } from '../../lib/kernel/format.ts'
import { doneText, idRoute } from '../frame/user-page.ts'
import { toAuthChoice } from './auth-choice.ts'
import { toImportRow } from './import-row.view.ts'
import { fieldErrors, KIND_OPTIONS, parseSourceForm, type SourceForm, toImportSource } from './import-source-form.ts'
import {
  createImportOpener,
  importCrumbs,
  importPath,
  type OpenedToolkit,
  type OpenImportParts,
} from './open-import.ts'

type Parts = OpenImportParts & {
  imports: Pick<ImportService, 'startImport' | 'listImports' | 'listUnfinished' | 'getImport'>
  settings: { limits: { maxImportBytes: number } }
}

const PATH = '/toolkits/:id/imports'
/** What a browser adds to the files, at most. */
const FORM_BYTES = 1_024 * 1_024

/** Returns the toolkits with unfinished imports, if the organization cannot have more of them. */
const toUnfinished = (error: AppError | undefined, unfinished: readonly UnfinishedImports[]) =>
  error?.code === 'limit_exceeded'
    ? unfinished.map(({ toolkitId, title, imports }) => ({
        href: `/toolkits/${toolkitId}/imports`,
        title,
        count: formatCount(imports, 'import'),
      }))
    : []

/** Serves the page on which the source of an import is chosen: `/toolkits/<id>/imports`. */
export const importSourcePages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { imports } = parts
  const { maxImportBytes } = parts.settings.limits
  acceptFiles(app, maxImportBytes + FORM_BYTES)
  const opener = createImportOpener(parts)

  const pageOf = async (
    opened: OpenedToolkit,
    request: FastifyRequest,
    typed?: SourceForm,
    error?: AppError,
  ): Promise<FormPage> => ({
    view: 'imports/source',
    data: {
      title: `Import into ${opened.toolkit.title}`,
      section: 'toolkits',
      crumbs: importCrumbs(opened),
      toolkit: opened.toolkit.title,
      action: `/toolkits/${opened.toolkit.id}/imports`,
      back: `/toolkits/${opened.toolkit.id}`,
      kinds: KIND_OPTIONS,
      typed: typed ?? { text: '', kind: '' },
      auth: {
        ...toAuthChoice(undefined, 'As the description says'),
        ...(typed && { value: typed.auth, header: typed.authHeader }),
      },
      maxSize: formatBytes(maxImportBytes),
      imports: (await imports.listImports(opened.actor, opened.toolkit.id)).map(toImportRow),
      unfinished: toUnfinished(error, await imports.listUnfinished(opened.actor, opened.toolkit.organizationId)),
      done: doneText(request, { discarded: 'Import discarded.' }),
    },
  })

  app.get(PATH, idRoute, async (request, reply) => {
    const opened = await opener.openToolkit(request)
    return showForm(reply, await pageOf(opened, request))
  })

  app.post(PATH, idRoute, async (request, reply) => {
    const opened = await opener.openToolkit(request)
    const typed = parseSourceForm(request.body)
    return submitForm(
      reply,
      async error => {
        const page = await pageOf(opened, request, typed, error)
        const errors = fieldErrors(error)
        const isPlaced = Object.keys(errors).length > 0
        return isPlaced ? { ...page, data: { ...page.data, errors, problem: undefined } } : page
      },
      async () =>
        importPath(await imports.startImport(opened.actor, opened.toolkit.id, toImportSource(typed, request))),
    )
  })
}
