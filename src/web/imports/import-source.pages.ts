import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Import } from '../../imports/import.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import { type FormPage, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { acceptFiles } from '../../lib/http/pages/multipart-form.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { formatBytes } from '../../lib/kernel/format.ts'
import { doneText, idRoute } from '../frame/user-page.ts'
import { fieldErrors, KIND_OPTIONS, parseSourceForm, type SourceForm, toImportSource } from './import-source-form.ts'
import {
  createImportOpener,
  importCrumbs,
  importPath,
  type OpenedToolkit,
  type OpenImportParts,
} from './open-import.ts'

type Parts = OpenImportParts & {
  imports: Pick<ImportService, 'startImport' | 'listImports' | 'getImport'>
  settings: { limits: { maxImportBytes: number } }
}

const PATH = '/toolkits/:id/imports'
/** What a browser adds to the files, at most. */
const FORM_BYTES = 1_024 * 1_024

const STATE_TEXTS = {
  reading: { text: 'Reading', state: 'slow' },
  ready: { text: 'Not imported yet', state: 'slow' },
  applied: { text: 'Imported', state: 'good' },
  failed: { text: 'Failed', state: 'failed' },
} as const

export const sourceNameOf = ({ sourceName, sourceUrl, summary }: Import): string =>
  summary?.title ?? sourceName ?? sourceUrl ?? summary?.format ?? 'pasted text'

const toRow = (found: Import) => ({
  href: importPath(found),
  name: sourceNameOf(found),
  started: shownTime(found.createdAt),
  status: STATE_TEXTS[found.state],
})

/** Serves the page on which the source of an import is chosen: `/toolkits/<id>/imports`. */
export const importSourcePages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { imports } = parts
  const { maxImportBytes } = parts.settings.limits
  acceptFiles(app, maxImportBytes + FORM_BYTES)
  const opener = createImportOpener(parts)

  const pageOf = async (opened: OpenedToolkit, request: FastifyRequest, typed?: SourceForm): Promise<FormPage> => ({
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
      maxSize: formatBytes(maxImportBytes),
      imports: (await imports.listImports(opened.actor, opened.toolkit.id)).map(toRow),
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
        const page = await pageOf(opened, request, typed)
        const errors = fieldErrors(error)
        const isPlaced = Object.keys(errors).length > 0
        return isPlaced ? { ...page, data: { ...page.data, errors, problem: undefined } } : page
      },
      async () =>
        importPath(await imports.startImport(opened.actor, opened.toolkit.id, toImportSource(typed, request))),
    )
  })
}
