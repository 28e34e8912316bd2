import { expect, it } from 'vitest'
import { z } from 'zod'
import { buildHttpApp } from '../../support/http-app.ts'

const Thing = z.object({ id: z.uuid(), name: z.string() }).meta({ id: 'TestThing' })

it('the OpenAPI document describes each route by its validation schemas, and its errors', async () => {
  const { app } = await buildHttpApp({
    routes: async api => {
      const schema = { body: z.object({ name: z.string().max(9) }), response: { 201: Thing } }
      api.post('/things', { config: { access: 'user' }, schema }, async (_request, reply) => reply.code(201))
      api.delete(
        '/things/:id',
        { config: { access: 'user' }, schema: { response: { 204: z.null() } } },
        async () => null,
      )
      api.get('/gallery', { config: { access: 'anyone' } }, async () => null)
    },
  })
  const response = await app.inject({ url: '/api/v1/openapi.json', headers: { host: 'localhost' } })
  expect(response.headers['content-type']).toContain('application/json')
  const document = response.json()
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(Object.keys(document.components.schemas).sort()).toEqual(['Problem', 'TestThing'])
  expect(document.components.securitySchemes).toMatchObject({ token: { scheme: 'bearer' }, session: { name: 'sid' } })
  expect(Object.keys(document.paths)).toEqual(['/api/v1/things', '/api/v1/things/{id}', '/api/v1/gallery'])
  const { post } = document.paths['/api/v1/things']
  expect(post.requestBody.content['application/json'].schema.properties.name).toEqual({ type: 'string', maxLength: 9 })
  expect(post.responses['201'].content['application/json'].schema.$ref).toBe('#/components/schemas/TestThing')
  expect(post.responses['4XX'].content['application/problem+json'].schema.$ref).toBe('#/components/schemas/Problem')
  expect(post).not.toHaveProperty('security')
  expect(document.paths['/api/v1/gallery'].get.security).toEqual([])
  expect(document.paths['/api/v1/things/{id}'].delete.responses['204']).not.toHaveProperty('content')
})
