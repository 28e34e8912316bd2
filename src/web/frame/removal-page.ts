import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FormRoute, formPage, formText } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { accountFrame } from '../account/account-tabs.ts'
import type { ServerFrame } from './server-frame.ts'

/** Collapses whitespace, as browsers do when they show the name. */
const asShown = (text: string): string => text.trim().replace(/\s+/g, ' ')

/** Throws `invalid_request` for the `sure` field unless the user typed the name to confirm the deletion. */
const assertTypedName = (typed: string, name: string): void => {
  if (asShown(typed) === asShown(name)) return
  throw new AppError('invalid_request', 'Type the name to confirm.', {
    errors: [{ path: 'sure', message: `is not ${asShown(name)}` }],
  })
}

/** The content of the page and its frame: a server's tab, an account page, or a separate page with breadcrumbs. */
type Shown = (
  | { server: ServerFrame }
  | ReturnType<typeof accountFrame>
  | { crumbs: readonly { href: string; text: string }[]; section: 'organizations' | 'toolkits' }
) & {
  /** The consequences of the removal, or the reason why it is not possible. */
  text: string
  /** Objects that are also removed, or that prevent the removal. */
  items?: readonly { href?: string; text: string; note?: string | undefined }[]
  more?: string | undefined
  footnote?: string
  isBlocked?: boolean
  /** Path to which the page links back. */
  back: string
}

type Removal<Loaded> = FormRoute & {
  /** Button label, such as "Remove global". The page's heading starts with the same verb. */
  button: string
  /** Whether the user need not type the name, because the object can be created again at any time. */
  isUnnamed?: true
  load: (request: FastifyRequest) => Loaded | Promise<Loaded>
  /** Returns what is removed, for the heading. */
  nameOf: (loaded: Loaded) => string
  /** Returns the name to type if it is not that of the removed object, as for several objects of a toolkit. */
  typedNameOf?: (loaded: Loaded) => string
  page: (request: FastifyRequest, loaded: Loaded) => Shown | Promise<Shown>
  /** Removes the object and returns the path to redirect to. */
  remove: (request: FastifyRequest, loaded: Loaded, reply: FastifyReply) => Promise<string>
}

/** Registers a page on which the user confirms that an object should be removed, usually by typing its name. */
export const removalPage = <Loaded>(
  app: FastifyInstance,
  path: string,
  { button, isUnnamed, load, nameOf, typedNameOf = nameOf, page, remove, ...route }: Removal<Loaded>,
): void => {
  const [verb = ''] = button.split(' ')
  formPage(app, path, {
    ...route,
    fields: { sure: formText },
    load,
    page: async (request, loaded, typed) => {
      const name = nameOf(loaded)
      const shown = await page(request, loaded)
      const typedName = isUnnamed === undefined ? typedNameOf(loaded) : undefined
      const form = { verb, name, typedName, button, typed: typed?.sure ?? '' }
      const data = { items: [], ...shown, title: `${verb} ${name}`, ...form }
      return {
        view: 'frame/removal',
        data: { ...data, ...('crumbs' in shown ? { width: 'narrow' } : {}), action: request.url },
        labels: { sure: 'name' },
      }
    },
    save: async (request, loaded, { sure }, reply) => {
      if (isUnnamed === undefined) assertTypedName(sure, typedNameOf(loaded))
      return remove(request, loaded, reply)
    },
  })
}
