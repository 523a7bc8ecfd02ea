import { memoryClients, memoryStore, type ClientRegistration } from '../../lib/index'
import { application } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, type Fields } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { webMetadata } from '../support/flows/registered'

/** The attacker has a client of their own, too. */
const evil = bent(photoPrint, { client_id: 'evil', redirect_uris: ['https://evil.example/callback'] })
const clients = [photoBook, evil].map(({ registration }) => registration)
const atTheAttacker = { ...authorizationRequest(photoBook), redirect_uri: 'https://evil.example/callback' }

// Authlib sent the user agent on where another fault was found first (CVE-2026-44681).
test.each<[string, Fields]>([
  ['nothing else is wrong', {}],
  ['the response type is missing', { response_type: undefined }],
  ['the response type is unknown', { response_type: 'id_token' }],
  ['the scope is malformed', { scope: '"' }],
  ['the scope is empty', { scope: '' }],
  ['the challenge is missing', { code_challenge: undefined }],
  ['the challenge method is plain', { code_challenge_method: 'plain' }],
])('no redirection URI of an attacker is answered where %s [redirect-4]', async (_, bend) => {
  const { flow, store } = setStage({ clients })
  for (const owner of ['alice', undefined]) {
    expect(errorPageOf(await flow.ask({ ...atTheAttacker, ...bend }, owner))).toBe('400 invalid_request')
    const posted = await flow.submit('/authorize', { ...atTheAttacker, ...bend }, owner)
    expect(errorPageOf(posted)).toBe('400 invalid_request')
  }
  expect(store.calls).toEqual({ find: 0, save: 0, remove: 0 })
})

test.each([
  'https://book.example.evil.example/callback',
  'https://book.example@evil.example/callback',
  'https://book.example:443/callback',
  'https://evil.example/https://book.example/callback',
  'https://book.example/callback/../../evil',
  'https://book.example/callback%2f..%2fevil',
  'https://book.example/callback?next=https://evil.example',
  'https://book.example/callback#',
  'https://book.example\\@evil.example/callback',
  'https://book.example/callback\t',
  'HTTPS://BOOK.EXAMPLE/callback',
  '//evil.example/callback',
])('%s passes for no registered redirection URI [redirect-2]', async (redirect_uri) => {
  const { flow } = setStage({ clients })
  const response = await flow.ask({ ...authorizationRequest(photoBook), redirect_uri }, 'alice')
  expect(errorPageOf(response)).toBe('400 invalid_request')
})

// Spring Authorization Server kept what a browser runs (CVE-2026-22752).
test.each([
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'blob:https://book.example/1',
  'file:///etc/passwd',
])('%s cannot be registered as a redirection URI [redirect-12]', async (uri) => {
  const redirect_uris = [uri]
  const { oauth } = application({ store: memoryStore(), clients: memoryClients() })
  await expect(oauth.registerClient({ ...webMetadata, redirect_uris })).rejects.toThrow('redirect_uris')
  const registration: ClientRegistration = { ...photoBook.registration, redirect_uris }
  expect(() => application({ store: memoryStore(), clients: [registration] })).toThrow('redirect_uris')
})
