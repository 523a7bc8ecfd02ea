import type { Extension, PlugIn } from '../../lib/index'
import { photoPrint } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'

const { redirect_uri = '', ...others } = authorizationRequest(photoPrint)
const asked = { ...others, redirect_uri }

/** An endpoint that shows what a pushed request keeps. */
const pushing: PlugIn = {
  name: 'pushing',
  open: (server) => ({
    endpoints: [
      {
        name: 'push',
        path: '/push',
        async handle({ client, parameters, evidence, sender }) {
          const parsed = await server.parseAuthorizationRequest(client, parameters, evidence, sender)
          return { members: { kept: parsed.parameters, scope: parsed.proposal.scope } }
        },
      },
    ],
  }),
}

async function push(extensions: readonly Extension[], fields: Readonly<Record<string, string>> = asked) {
  const { flow } = setStage({ plugIns: [pushing], extensions })
  const response = await flow.request(photoPrint, fields, '/push')
  const { kept, scope, error } = response.body
  return { outcome: `${response.status} ${error}`, kept: new URLSearchParams(kept), scope }
}

/** The parameters of the request stand in another parameter, as in a request object. */
const unwrapping: Extension = {
  name: 'unwrapping',
  async resolveRequest(parameters) {
    const inner = parameters.get('inner')
    return inner === undefined ? undefined : { parameters: inner }
  },
}

describe('a pushed request', () => {
  test('is replaced by extensions, which learn that it is pushed, and needs no client_id before', async () => {
    const seen: unknown[] = []
    const watching: Extension = {
      name: 'watching',
      async resolveRequest(_parameters, client, { isPushed }) {
        seen.push([client.client_id, isPushed])
        return undefined
      },
    }
    const inner = formOf({ ...asked, scope: 'photos:read' })
    const { kept, scope } = await push([watching, unwrapping], { inner, scope: 'photos:print' })
    expect(scope).toEqual(['photos:read'])
    expect(kept.toString()).toBe(inner)
    expect(seen).toEqual([['photo-print', true]])
  })

  test.each<[string, Record<string, string>]>([
    ['the wrapped request is of another client', { inner: formOf({ ...asked, client_id: 'photo-book' }) }],
    ['the request has a faulty parameter that nothing reads before', { ...asked, scope: 'x'.repeat(5000) }],
  ])('is refused if %s', async (_what, fields) => {
    expect((await push([unwrapping], fields)).outcome).toBe('400 invalid_request')
  })

  test('uses up no record', async () => {
    const claiming: Extension = {
      name: 'claiming',
      resolveRequest: async (parameters) => ({ parameters: parameters.format(), claims: 'rh_' }),
    }
    expect((await push([claiming])).outcome).toBe('500 server_error')
  })

  test('keeps no credential of its client, whatever the method', async () => {
    const badge: Extension = { name: 'badge', credentialParameters: ['badge'] }
    const fields = { ...asked, badge: 'b', client_assertion_type: 'urn:x', code_verifier: 'v' }
    const { kept } = await push([badge], fields)
    expect([...kept.keys()].toSorted()).toEqual(Object.keys(asked).toSorted())
  })

  /** What the extension found in the request becomes a parameter, as the thumbprint of a proof. */
  const adding = (bend: Partial<Extension> = {}): Extension => ({
    name: 'adding',
    authorizationParameters: ['thumbprint'],
    prepare: async ({ endpoint }) => `proof at ${endpoint}`,
    atPushedRequest: ({ evidence }) => ({ thumbprint: `of ${String(evidence)}` }),
    ...bend,
  })

  test('gets the parameters that an extension adds by its evidence', async () => {
    const { kept } = await push([adding()])
    expect(kept.get('thumbprint')).toBe('of proof at push')
    expect(kept.get('state')).toBe(asked['state'])
    const empty = await push([adding()], { ...asked, thumbprint: '' })
    expect(empty.kept.getAll('thumbprint')).toEqual(['of proof at push'])
    const same = await push([adding()], { ...asked, thumbprint: 'of proof at push' })
    expect(same.kept.getAll('thumbprint')).toEqual(['of proof at push'])
  })

  test.each<[string, Extension[]]>([
    ['another value than the request', [adding()]],
    ['no text', [adding({ atPushedRequest: () => JSON.parse('{"thumbprint": 1}') })]],
    ['null', [adding({ atPushedRequest: () => JSON.parse('null') })]],
    [
      'another value than the extension before',
      [adding(), { name: 'second', atPushedRequest: () => ({ thumbprint: 'another' }) }],
    ],
  ])('fails with an extension that adds %s', async (what, extensions) => {
    const own = what.includes('request') ? { thumbprint: 'own' } : undefined
    expect((await push(extensions, { ...asked, ...own })).outcome).toBe('500 server_error')
  })
})
