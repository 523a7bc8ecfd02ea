import { memoryStore } from '../../lib/index'
import { resolveOptions } from '../../lib/config/resolve-options'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { mistakesWith } from '../support/rooms/mistakes'

const settingsWith = (authorizations: object | boolean, issuer = 'http://localhost') => {
  const settings = resolveOptions({ ...canonicalOptions, issuer, authorizations })
  return [settings.authorizations, settings.connectedPath, settings.manageAt]
}

describe('the option authorizations', () => {
  it.each<[string, object | boolean, readonly unknown[]]>([
    ['false: off', false, [false, undefined, undefined]],
    ['true: the page at its usual path', true, [true, '/authorizations', '/authorizations']],
    ['{}: the page at its usual path', {}, [true, '/authorizations', '/authorizations']],
    ['a path: the page there', { path: '/apps' }, [true, '/apps', '/apps']],
    ['manageAt: a page of the host alone', { manageAt: '/me' }, [true, undefined, '/me']],
    [
      'both: the page, and a link to another place',
      { path: '/apps', manageAt: 'https://example.com/me' },
      [true, '/apps', 'https://example.com/me'],
    ],
  ])('is %s', (_what, given, expected) => {
    expect(settingsWith(given)).toEqual(expected)
  })

  it('has no page where nobody logs in: the list, and the revocation of clients', () => {
    const { issuer, scopes } = canonicalOptions
    const clients = [nightlyReport.registration]
    const { authorizations, connectedPath } = resolveOptions({
      issuer,
      scopes,
      clients,
      authorizations: true,
    })
    expect([authorizations, connectedPath]).toEqual([true, undefined])
  })

  it('leads from the consent page to the path below the issuer', () => {
    expect(settingsWith({}, 'http://localhost/oauth/')).toEqual([
      true,
      '/authorizations',
      '/oauth/authorizations',
    ])
  })

  it.each<[string, object, string]>([
    ['a path without a slash', { authorizations: { path: 'apps' } }, 'authorizations.path'],
    ['the path of another endpoint', { authorizations: { path: '/token' } }, 'authorizations.path'],
    ['another member', { authorizations: { paths: '/apps' } }, 'authorizations.paths'],
    [
      'a place that is a script',
      { authorizations: { manageAt: 'javascript:alert(1)' } },
      'authorizations.manageAt',
    ],
    [
      'a place of another host',
      { authorizations: { manageAt: '//evil.example/' } },
      'authorizations.manageAt',
    ],
    ['no login', { authorizations: {}, resourceOwner: undefined }, 'resourceOwner'],
    [
      'a page of the host without the page',
      { authorizations: { manageAt: '/me' }, pages: { connected: () => {} } },
      'pages.connected',
    ],
    [
      'an endpoint of its name',
      {
        authorizations: {},
        endpoints: [{ kind: 'page', name: 'authorizations', path: '/x', handle: () => {} }],
      },
      'authorizations.path',
    ],
    [
      'a store without an index',
      { authorizations: {}, store: { ...memoryStore(), index: undefined } },
      'store',
    ],
  ])('refuses %s', (_what, given, at) => {
    expect(mistakesWith({ resourceOwner: () => 'alice', ...given }).map(({ path }) => path)).toContain(at)
  })

  it('leaves the name of the page to hosts without it', () => {
    const own = { kind: 'page', name: 'authorizations', path: '/authorizations', handle: () => {} }
    expect(
      mistakesWith({
        resourceOwner: () => 'alice',
        authorizations: { manageAt: '/authorizations' },
        endpoints: [own],
      }),
    ).toEqual([])
  })
})
