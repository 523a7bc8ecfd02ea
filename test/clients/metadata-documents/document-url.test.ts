import { documentUrl } from '../../../lib/clients/metadata-documents/document-url'

describe('The URL of a metadata document', () => {
  test.each([
    'https://client.example/oauth/metadata.json',
    'https://client.example/a',
    'https://client.example/',
    'https://client.example/?a',
    'https://client.example:443/a',
    'https://client.example/a:443/b',
    'https://client.example/a/',
    'https://client.example:8443/a',
    'https://client.example/a?version=2',
    'https://client.example/a%2Fb',
    'https://client.example/...',
    'https://client.example/.well-known/client',
    'https://xn--bcher-kva.example/a',
    'https://127.0.0.1/a',
    `https://client.example/${'a'.repeat(233)}`,
  ])('is %s', (clientId) => {
    expect(documentUrl(clientId)?.clientId).toBe(clientId)
  })

  test.each([
    ['empty', ''],
    ['a registered identifier', 's6BhdRkqt3'],
    ['no https', 'http://client.example/a'],
    ['another scheme', 'ftp://client.example/a'],
    ['a scheme in capitals', 'HTTPS://client.example/a'],
    ['without a path', 'https://client.example'],
    ['without a path, with a query', 'https://client.example?a'],
    ['without a path, with the usual port', 'https://client.example:443'],
    ['without a host', 'https:///a'],
    ['without slashes', 'https:client.example/a'],
    ['one slash', 'https:/client.example/a'],
    ['a dot segment', 'https://client.example/a/./b'],
    ['two dots', 'https://client.example/a/../b'],
    ['dots at the end', 'https://client.example/a/..'],
    ['an encoded dot segment', 'https://client.example/a/%2e/b'],
    ['two encoded dots', 'https://client.example/a/%2E%2e/b'],
    ['half encoded dots', 'https://client.example/a/.%2e/b'],
    ['a fragment', 'https://client.example/a#b'],
    ['an empty fragment', 'https://client.example/a#'],
    ['a name', 'https://alice@client.example/a'],
    ['a name and a password', 'https://alice:secret@client.example/a'],
    ['an empty name', 'https://@client.example/a'],
    ['the usual port twice', 'https://client.example:443:443/a'],
    ['the usual port in another notation', 'https://client.example:0443/a'],
    ['an empty port', 'https://client.example:/a'],
    ['a host in capitals', 'https://Client.example/a'],
    ['an address in another notation', 'https://0x7f.1/a'],
    ['a space', 'https://client.example/a b'],
    ['space around it', ' https://client.example/a'],
    ['a line break', 'https://client.example/a\n'],
    ['a tab', 'https://client.example/a\tb'],
    ['a backslash', 'https://client.example\\a'],
    ['letters beyond ASCII', 'https://bücher.example/a'],
    ['a broken triplet', 'https://client.example/%zz'],
    ['too long', `https://client.example/${'a'.repeat(234)}`],
  ])('is never %s [stranger-2]', (_, clientId) => {
    expect(documentUrl(clientId)).toBeUndefined()
  })
})
