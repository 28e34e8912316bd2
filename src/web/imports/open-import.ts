import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Import, ImportTotals } from '../../imports/import.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { ToolkitCatalogue, UsedToolkitCard } from '../../tools/sharing/catalogue.service.ts'
import { idOf, userRoute } from '../frame/user-page.ts'

const Params = z.object({ id: uuidParam, importId: uuidParam })

/** Route options for the pages of an import. */
export const importRoute = { ...userRoute, schema: { params: Params } } as const

export type ImportPath = `/toolkits/${string}/imports/${string}`

export const importPath = ({ id, toolkitId }: Pick<Import, 'id' | 'toolkitId'>): ImportPath =>
  `/toolkits/${toolkitId}/imports/${id}`

export type OpenedToolkit = { actor: Actor; toolkit: UsedToolkitCard }
export type OpenedImport = OpenedToolkit & { found: Import & { totals: ImportTotals } }

export type OpenImportParts = {
  toolkitCatalogue: Pick<ToolkitCatalogue, 'getOwn'>
  imports: Pick<ImportService, 'getImport'>
}

/** Returns the links above the heading. */
export const importCrumbs = ({ toolkit }: OpenedToolkit) => [
  { href: `/organizations/${toolkit.organizationId}`, text: toolkit.organizationName },
  { href: '/toolkits', text: 'Toolkits' },
  { href: `/toolkits/${toolkit.id}`, text: toolkit.title },
]

const GONE = 'There is no such import. Unfinished imports are deleted after 24 hours. Start again from the toolkit.'

export const createImportOpener = ({ toolkitCatalogue, imports }: OpenImportParts) => {
  /** Throws `forbidden` unless the user may build in the toolkit's organization. */
  const openToolkit = async (request: FastifyRequest): Promise<OpenedToolkit> => {
    const actor = actorOf(request)
    const toolkit = await toolkitCatalogue.getOwn(actor, idOf(request))
    assertMay(actor, toolkit.organizationId, 'build')
    return { actor, toolkit }
  }
  return {
    openToolkit,
    /** Throws `not_found` if the import has been deleted, or is one of another toolkit. */
    openImport: async (request: FastifyRequest): Promise<OpenedImport> => {
      const opened = await openToolkit(request)
      const { importId } = Params.parse(request.params)
      const found = await imports.getImport(opened.actor, importId).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') throw new AppError('not_found', GONE)
        throw error
      })
      if (found.toolkitId !== opened.toolkit.id) throw new AppError('not_found', GONE)
      return { ...opened, found }
    },
  }
}
