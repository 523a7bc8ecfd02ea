import type { FoundAccess } from '../../lib/authorization/lookup'
import type { GrantedToken } from '../../lib/authorization/transition'
import type { Extension } from '../../lib/protocol/extension'
import { invalidTarget } from '../../lib/protocol/host-errors'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { restrictorsOf, restrictToken } from '../../lib/token-endpoint/restrict'
import { clientWith } from '../support/authorization/client'
import { parametersOf } from '../support/rooms/parameters'

const request = { client: clientWith(), parameters: parametersOf({}), grantType: 'refresh_token' }
const granted: GrantedToken = {
  subject: 'alice',
  scope: ['photos.read', 'photos.write'],
  extensionData: {},
  begins: false,
}

// An extension in JavaScript may return anything.
const returning = (restriction: object | boolean | null | undefined, name = 'resource'): Extension => {
  const extension = { name, atTokenRequest: jest.fn() }
  extension.atTokenRequest.mockReturnValue(restriction)
  return extension
}

type Asked = Parameters<typeof restrictToken>

/** Asks extensions of a host. */
const restrictBy = (extensions: readonly Extension[], asked: Asked[1], from: Asked[2]) =>
  restrictToken(
    restrictorsOf(extensions, () => false),
    asked,
    from,
  )

const restricted = (extensions: readonly Extension[], bend: Partial<GrantedToken> = {}) => {
  const token = restrictBy(extensions, request, { ...granted, ...bend })
  if (token instanceof OAuthError) throw token
  return token
}

describe('restrictToken', () => {
  it('takes the token type and the format that an extension chooses, and throws for two choices', () => {
    const choosing = (name: string, choice: object) => returning(choice, name)
    const dpop = choosing('dpop', { tokenType: 'DPoP', format: 'at+jwt' })
    expect(restricted([dpop, choosing('same', { tokenType: 'DPoP' }), choosing('none', {})])).toMatchObject({
      tokenType: 'DPoP',
      format: 'at+jwt',
    })
    for (const other of [{ tokenType: 'bearer' }, { format: 'opaque' }])
      expect(() => restricted([dpop, choosing('other', other)])).toThrow('an extension before it chose')
  })

  it('takes data for the authorization, whether the authorization begins or not', () => {
    for (const begins of [true, false])
      expect(restricted([returning({ authorizationData: { jkt: 'x' } })], { begins })).toMatchObject({
        authorizationData: { resource: { jkt: 'x' } },
      })
  })

  it('shows each extension its own evidence alone', () => {
    const atTokenRequest = jest.fn(() => undefined)
    const evidence = new Map<string, unknown>([['__proto__', 1]])
    restrictToken(
      restrictorsOf(
        ['__proto__', 'constructor'].map((name) => ({ name, atTokenRequest })),
        () => false,
      ),
      { ...request, evidence },
      granted,
    )
    expect(atTokenRequest.mock.calls).toMatchObject([[{ evidence: 1 }], [{ evidence: undefined }]])
  })

  it('leaves the token as it was granted when no extension looks at it', () => {
    for (const extensions of [[], [{ name: 'idle' }], [returning(undefined)], [returning({})]])
      expect(restricted(extensions)).toEqual({
        scope: granted.scope,
        lifetime: undefined,
        extensionData: {},
        authorizationData: {},
      })
  })

  it('shows each extension the request, the grant, and its own data alone', () => {
    const atTokenRequest = jest.fn(() => undefined)
    const names = ['resource', 'empty', 'late', 'constructor', '__proto__']
    const extensionData = { resource: 'https://a.example', empty: null }
    restricted(
      names.map((name) => ({ name, atTokenRequest })),
      { extensionData },
    )
    const { subject, scope, begins } = granted
    const seen = ['https://a.example', null, undefined, undefined, undefined].map((authorizationData) => [
      {
        ...request,
        subject,
        scope,
        requestedScope: undefined,
        begins,
        authorizationData,
        subjectToken: undefined,
        audience: [],
      },
    ])
    expect(atTokenRequest.mock.calls).toEqual(seen)
  })

  it('shows each extension its own data of the exchanged token, with the targets', () => {
    const atTokenRequest = jest.fn(() => undefined)
    const subjectToken: FoundAccess = {
      access: {
        authorizationId: 'a'.repeat(22),
        clientId: 'gallery',
        subject: 'alice',
        scope: ['photos.read'],
        tokenType: 'bearer',
        expiresAt: 7,
      },
      tokenData: 'data of the token type',
      extensionData: { resource: 'approved', other: 'hidden' },
      tokenExtensionData: { resource: 'narrowed' },
    }
    const audience = ['https://a.example']
    restricted([{ name: 'resource', atTokenRequest }], { begins: true, subjectToken, audience })
    expect(atTokenRequest).toHaveBeenCalledWith(
      expect.objectContaining({
        subjectToken: { scope: ['photos.read'], authorizationData: 'approved', tokenData: 'narrowed' },
        audience,
      }),
    )
  })

  it('narrows the scope of an existing grant to that of the client before any extension sees it', () => {
    const never = jest.fn(() => undefined)
    const narrowed = (scope: string, bend: Partial<GrantedToken> = {}) =>
      restrictBy(
        [{ name: 'resource', atTokenRequest: never }],
        { ...request, client: clientWith({ scope }) },
        { ...granted, ...bend },
      )
    expect(narrowed('profile')).toMatchObject({ code: 'invalid_scope', reason: 'scope_withdrawn' })
    expect(never).not.toHaveBeenCalled()
    expect(narrowed('profile photos.write')).toMatchObject({ scope: ['photos.write'] })
    expect(never).toHaveBeenCalledWith(expect.objectContaining({ scope: ['photos.write'] }))
    expect(narrowed('profile', { begins: true })).toMatchObject({ scope: granted.scope })
  })

  it('narrows the scope from extension to extension', () => {
    const last = jest.fn(() => undefined)
    const { scope } = restricted([
      returning({ scope: ['photos.read', 'photos.read'] }, 'first'),
      { name: 'last', atTokenRequest: last },
    ])
    expect(scope).toEqual(['photos.read'])
    expect(last).toHaveBeenCalledWith(expect.objectContaining({ scope: ['photos.read'] }))
  })

  it('takes the shortest lifetime, and keeps the data of each extension under its name', () => {
    const extensions = [
      returning({ lifetime: 60, tokenData: 'one' }, 'a'),
      returning({ lifetime: 600, tokenData: null, authorizationData: [2] }, '__proto__'),
    ]
    const { lifetime, extensionData, authorizationData } = restricted(extensions, { begins: true })
    expect(lifetime).toBe(60)
    expect(Object.entries(extensionData)).toEqual([
      ['a', 'one'],
      ['__proto__', null],
    ])
    expect(Object.entries(authorizationData)).toEqual([['__proto__', [2]]])
  })

  it('ends at the first refusal', () => {
    const refusal = invalidTarget('resource_unknown', 'The resource is unknown.')
    const never = jest.fn(() => undefined)
    const refusing: Extension = {
      name: 'resource',
      atTokenRequest: () => {
        throw refusal
      },
    }
    expect(restrictBy([refusing, { name: 'never', atTokenRequest: never }], request, granted)).toBe(refusal)
    expect(never).not.toHaveBeenCalled()
  })

  it('refuses a request of which no scope is left', () => {
    expect(restrictBy([returning({ scope: [] })], request, granted)).toMatchObject({
      code: 'invalid_scope',
      reason: 'scope_exceeded',
    })
  })

  it.each<[string, object | boolean | null]>([
    ['another scope', { scope: ['photos.read', 'admin'] }],
    ['a scope that an extension before took away', { scope: ['photos.write'] }],
    ['a scope in one text', { scope: 'photos.read' }],
    ['a scope with a number', { scope: [7] }],
    ['a lifetime of 0', { lifetime: 0 }],
    ['half a second', { lifetime: 0.5 }],
    ['no number for a lifetime', { lifetime: '60' }],
    ['a lifetime without end', { lifetime: Infinity }],
    ['data that JSON changes', { tokenData: new Date() }],
    ['data of the authorization that JSON changes', { authorizationData: () => 7 }],
    ['more data than a record should hold', { tokenData: 'x'.repeat(20_000) }],
    ['a token type that is no name', { tokenType: 7 }],
    ['a format that is no name', { format: '' }],
    ['a member that has no meaning', { subject: 'mallory' }],
    ['null', null],
    ['a list', []],
    ['a promise', Promise.resolve({})],
    ['true', true],
  ])('throws for %s: a mistake of a host must never widen a grant', (_what, restriction) => {
    const first = returning({ scope: ['photos.read'] }, 'first')
    expect(() => restrictBy([first, returning(restriction)], request, granted)).toThrow(
      /^The extension "resource" returned a wrong result for a token request: /,
    )
  })

  it('lets through what an extension breaks with', () => {
    const broken = new Error('broken')
    const extension: Extension = {
      name: 'resource',
      atTokenRequest: () => {
        throw broken
      },
    }
    expect(() => restrictBy([extension], request, granted)).toThrow(broken)
  })
})
