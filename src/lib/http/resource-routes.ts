import type {
  FastifyReply,
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify'
import type { FastifyPluginAsyncZod, ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Actor } from '../kernel/actor.ts'
import { actorOf, type RouteAccess } from './access.ts'
import { type IdPage, idPageOf } from './id-paging.ts'
import { type PageQuery, pageOf, pageQuery, toPage } from './paging.ts'

/** The request schemas of a route. */
type RouteSchema = { summary?: string; params?: z.ZodType; querystring?: z.ZodType; body?: z.ZodType }

type Request<S extends RouteSchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  S,
  ZodTypeProvider
>

/** The validated parts of a request, plus the caller. Reading `actor` throws if nobody is signed in. */
type Input<S extends RouteSchema> = Pick<Request<S>, 'params' | 'query' | 'body'> & {
  readonly actor: Actor
  request: Request<S>
  reply: FastifyReply
}

type Optional<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T]
/**
 * Makes a schema's input readonly, and fields optional if they may be undefined. Skips JSON, whose type is recursive.
 */
type Lenient<T> = [z.core.util.JSONType] extends [T]
  ? T
  : T extends Date
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Lenient<Item>[]
      : T extends object
        ? { readonly [Key in Exclude<keyof T, Optional<T>>]: Lenient<T[Key]> } & {
            readonly [Key in Optional<T>]?: Lenient<T[Key]> | undefined
          }
        : T
/** Input of a response schema. It may have fields that are not in the schema. Those fields are not sent. */
type Shown<V extends z.ZodType> = Lenient<z.input<V>>

/** Describes how a response presents the value that a service returns. */
type View<V extends z.ZodType, T> = {
  schema: V
  toView: (found: T, input: { readonly actor: Actor }) => Shown<V> | Promise<Shown<V>>
}

/** Reply type for routes whose handlers send the response themselves. */
type Sent = { Reply: FastifyReply }

export const noContent = { schema: z.null(), toView: () => null }

/** Returns a view for service calls whose results already match the schema. */
export const viewAsIs = <V extends z.ZodType>(schema: V) => ({ schema, toView: (view: Shown<V>) => view })

/**
 * Returns functions that add routes for a resource. Each function takes the path, the request schema, the view for the
 * response, and a function that calls the service.
 */
export const resourceRoutes = (
  app: Parameters<FastifyPluginAsyncZod>[0],
  { access, tags, bodyLimit }: { access: RouteAccess; tags: readonly string[]; bodyLimit?: number },
) => {
  const options = { config: { access }, ...(bodyLimit !== undefined && { bodyLimit }) }

  const route =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', status: 200 | 201 | 202 | 204) =>
    <S extends RouteSchema, V extends z.ZodType, T>(
      url: string,
      schema: S,
      { schema: view, toView }: View<V, T>,
      call: (input: Input<S>) => Promise<T>,
    ): void => {
      app.route<Sent, unknown, S>({
        method,
        url,
        ...options,
        schema: { tags, ...schema, response: { [status]: view } },
        handler: async (request, reply: FastifyReply) => {
          const { params, query, body } = request
          const input = {
            params,
            query,
            body,
            request,
            reply,
            get actor() {
              return actorOf(request)
            },
          }
          const found = await call(input)
          return reply.code(status).send(await toView(found, input))
        },
      })
    }

  const remove = route('DELETE', 204)

  return {
    route,
    get: route('GET', 200),
    create: route('POST', 201),
    update: route('PATCH', 200),
    put: route('PUT', 200),
    /** Adds an operation on a resource, such as a transfer. */
    perform: route('POST', 200),
    remove: <S extends RouteSchema>(url: string, schema: S, call: (input: Input<S>) => Promise<void>): void =>
      remove(url, schema, noContent, call),
    /** Adds a paginated list, ordered by id. */
    list: <S extends RouteSchema, V extends z.ZodType, T extends { id: string }>(
      url: string,
      schema: S,
      { schema: view, toView }: View<V, T>,
      call: (input: Pick<Input<S>, 'actor' | 'params' | 'request'> & { page: IdPage }) => Promise<readonly T[]>,
    ): void => {
      app.route<Sent & { Querystring: PageQuery }, unknown, S>({
        method: 'GET',
        url,
        ...options,
        schema: { tags, ...schema, querystring: pageQuery, response: { 200: pageOf(view) } },
        handler: async (request, reply: FastifyReply) => {
          const actor = actorOf(request)
          const page = idPageOf(request.query)
          const rows = await call({ actor, params: request.params, page, request })
          const { items, nextCursor } = toPage(rows, page.limit, last => last.id)
          return reply.send({ items: await Promise.all(items.map(item => toView(item, { actor }))), nextCursor })
        },
      })
    },
  }
}
