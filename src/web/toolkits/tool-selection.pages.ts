import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import type { ToolSelection } from '../../tools/tool-selection.service.ts'
import type { ServerRef, ToolkitService } from '../../tools/toolkits.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { NOTHING_SELECTED, nameOfTools, selectedIds } from '../frame/selected-tools.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import { createDeletedToolUndo, toDeletedTool } from './deleted-tool.ts'

type Parts = { toolkits: ToolkitService; toolSelection: ToolSelection; sealing: Sealing }

const Target = z.object({ target: z.uuid('is not a toolkit') })

const namesOf = (servers: readonly ServerRef[] = []): string => servers.map(({ name }) => name).join(', ')

/** Registers the pages that move and delete the selected tools of a toolkit: `?tool=<id>&tool=<id>`. */
export const toolSelectionPages: FastifyPluginAsync<Parts> = async (app, { toolkits, toolSelection, sealing }) => {
  const undo = createDeletedToolUndo(sealing)

  const load = async (request: FastifyRequest) => {
    const actor = actorOf(request)
    const id = idOf(request)
    const selected = await toolSelection.listSelected(actor, id, selectedIds(request))
    const toolkit = await toolkits.getToolkit(actor, id)
    const path = `/toolkits/${id}`
    const crumbs = [
      { href: '/toolkits', text: 'Toolkits' },
      { href: path, text: toolkit.title },
    ]
    return { actor, toolkit, path, ...selected, frame: { section: 'toolkits' as const, crumbs, back: path } }
  }
  type Loaded = Awaited<ReturnType<typeof load>>

  const idsOf = ({ tools }: Loaded): string[] => tools.map(({ id }) => id)

  removalPage(app, '/toolkits/:id/tools/removal', {
    ...idRoute,
    button: 'Delete tools',
    load,
    nameOf: ({ tools }) => nameOfTools(tools),
    typedNameOf: ({ toolkit }) => toolkit.title,
    page: (request, { toolkit, path, tools, usedBy, frame }) => {
      if (tools.length === 0) return { ...frame, text: NOTHING_SELECTED, isBlocked: true }
      const used = tools.flatMap(({ id, name }) =>
        (usedBy.get(id) ?? []).map(server => ({
          href: serverTabPath(server.id, 'tools'),
          text: server.name,
          note: `uses ${name}`,
        })),
      )
      if (used.length > 0) {
        return {
          ...frame,
          text: 'Servers use these tools. Remove them from the servers first:',
          items: used,
          isBlocked: true,
        }
      }
      const undoText = undo.describe(request, { path }, tools.map(toDeletedTool))
      const text = `Deleted from ${toolkit.title}. ${undoText} To confirm, type the toolkit’s title.`
      return { ...frame, text, items: tools.map(({ name }) => ({ text: name })) }
    },
    remove: async (request, loaded, reply) => {
      if (loaded.tools.length === 0) throw new AppError('invalid_request', NOTHING_SELECTED)
      await toolSelection.removeTools(loaded.actor, loaded.toolkit.id, idsOf(loaded))
      undo.keep(request, reply, { path: loaded.path }, loaded.tools.map(toDeletedTool))
      return addressOf(loaded.path, { done: 'tools-removed', count: String(loaded.tools.length) })
    },
  })

  formPage(app, '/toolkits/:id/tools/move', {
    ...idRoute,
    fields: { target: formText },
    load,
    page: async (request, { actor, toolkit, tools, usedBy, frame }, typed) => {
      const targets = await toolSelection.listTargets(actor, toolkit.id)
      return {
        view: 'toolkits/move',
        data: {
          ...frame,
          title: `Move ${nameOfTools(tools)}`,
          width: 'narrow',
          name: nameOfTools(tools),
          nothing: tools.length === 0 ? NOTHING_SELECTED : undefined,
          tools: tools.map(({ id, name }) => ({ name, usedBy: namesOf(usedBy.get(id)) })),
          isUsed: tools.some(({ id }) => usedBy.has(id)),
          wasPublic: toolkit.visibility === 'public',
          targets: targets.map(({ id, title, visibility }) => ({
            value: id,
            text: visibility === 'public' ? `${title} (public: everyone can use its tools)` : title,
          })),
          typed: typed?.target,
          action: request.url,
        },
        labels: { target: 'toolkit' },
      }
    },
    save: async (_request, loaded, { target }) => {
      if (loaded.tools.length === 0) throw new AppError('invalid_request', NOTHING_SELECTED)
      const { target: id } = parseInput(Target, { target })
      await toolSelection.moveTools(loaded.actor, loaded.toolkit.id, idsOf(loaded), id)
      return addressOf(`/toolkits/${id}`, { done: 'tools-moved', count: String(loaded.tools.length) })
    },
  })
}
