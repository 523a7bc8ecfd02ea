import { resolveOptions } from '../../lib/config/resolve-options'
import { mistakesWith } from '../support/rooms/mistakes'
import { optionsWith } from '../support/rooms/registrations'

const example = 'such as https://example.com or http://localhost:3000.'

const mended = "must have its path as a URL parser writes it, without '.' and '..' segments."

describe('the option issuer', () => {
  it.each([
    ['https://photos.example', '', true],
    ['https://photos.example/', '', true],
    ['https://photos.example/auth', '/auth', true],
    ['https://photos.example/auth/', '/auth', true],
    ['https://photos.example/a/b//', '/a/b', true],
    ['https://photos.example:8443', '', true],
    ['https://localhost', '', true],
    ['http://localhost:3000', '', false],
    ['http://127.0.0.1', '', false],
    ['http://[::1]:3000/auth', '/auth', false],
  ])('%s is mounted at %j; TLS is required: %s', (issuer, mount, tlsRequired) => {
    expect(resolveOptions(optionsWith({ issuer }))).toMatchObject({ issuer, mount, tlsRequired })
  })

  it.each([[null], [7], [true], [{}], [[]], [''], [new URL('https://photos.example')]])(
    '%j is no text',
    (issuer) => {
      expect(mistakesWith({ issuer })).toContainEqual({
        path: 'issuer',
        message: `must be the URL of this server, ${example}`,
      })
    },
  )

  it.each(['photos.example', '/auth', '//photos.example', 'https://', 'https://photos example'])(
    '%j is no absolute URL',
    (issuer) => {
      expect(mistakesWith({ issuer })).toEqual([
        { path: 'issuer', message: `must be an absolute URL, ${example}` },
      ])
    },
  )

  it.each([
    ['http://photos.example', 'must use https unless its host is loopback.'],
    ['http://localhost.evil.example', 'must use https unless its host is loopback.'],
    ['http://127.0.0.1.evil.example', 'must use https unless its host is loopback.'],
    ['ftp://localhost', 'must use https unless its host is loopback.'],
    ['photos:auth', 'must be an absolute URL, such as https://example.com or http://localhost:3000.'],
    ['https://photos.example/a/../b', mended],
    ['https://photos.example/./b', mended],
    ['https://photos.example/%2e%2e/b', mended],
    ['https://photos.example?', 'must not have a query or a fragment.'],
    ['https://photos.example/?a=1', 'must not have a query or a fragment.'],
    ['https://photos.example#', 'must not have a query or a fragment.'],
    ['https://user@photos.example', 'must not hold a user name or password.'],
    ['https://:secret@photos.example', 'must not hold a user name or password.'],
  ])('%s %s', (issuer, message) => {
    expect(mistakesWith({ issuer })).toEqual([{ path: 'issuer', message }])
  })

  it('tells all that is wrong with it', () => {
    expect(mistakesWith({ issuer: 'http://user@photos.example?#' })).toHaveLength(3)
  })

  // RFC 9207 2.4: clients compare it letter by letter, and it stands in every answer as it is here.
  it.each([
    ' https://photos.example',
    'https://photos.example ',
    'https://photos.example\n',
    'https:photos.example',
    'https:/photos.example',
    'https:\\\\photos.example',
    'https:///photos.example',
    'https://photos.example/\u00e9',
  ])('%j is a URL only to a browser that mends it', (issuer) => {
    expect(mistakesWith({ issuer }).map(({ path }) => path)).toEqual(['issuer'])
  })
})
