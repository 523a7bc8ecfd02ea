import { completing, completionOf } from '../../lib/authorization/complete-issue'
import { issueDirectly } from '../../lib/authorization/issue'
import { accessFinder, guardFinder } from '../../lib/authorization/lookup'
import { tokenObserver } from '../../lib/authorization/observe-token'
import { noEvidence } from '../../lib/protocol/evidence'
import { memoryStore } from '../../lib/stores/memory-store'
import { nightlyExport } from '../support/authorization/authorization'
import { clientWith } from '../support/authorization/client'
import { context, lifetimes, noon } from '../support/authorization/issue-context'
import { signedFormat } from '../support/flows/signed-format'

const issuer = 'https://auth.example'
const signed = signedFormat('signed')
const formats = [signed]
const recipient = { client: clientWith(), grantType: 'client_credentials', evidence: noEvidence }
const revision = 'r'.repeat(22)

/** A token in a format, its record, and a store that has the record. */
async function token() {
  const at = { ...context(), formats: new Map([['signed', signed]]), usualFormat: 'signed' }
  const { authorization, issued } = issueDirectly(nightlyExport, at)
  const complete = completionOf({ issuer, accessTokenFormats: formats, tokenTypes: [], extensions: [] })
  const completed = await complete?.({ authorization, issued, event: undefined }, recipient)
  const store = memoryStore({ clock: () => noon * 1000 })
  await store.save(authorization, revision)
  return {
    text: completed?.issued.accessToken ?? '',
    opaque: issued.accessToken,
    authorization,
    issued,
    store,
  }
}

describe('a token in a format', () => {
  it('is found by its text, and not by the opaque text that nobody got', async () => {
    const { text, opaque, store, authorization } = await token()
    for (const find of [accessFinder(store, formats), guardFinder(store, formats)]) {
      expect(await find(text, noon)).toMatchObject({ access: { authorizationId: authorization.id } })
      expect(await find(opaque, noon)).toBeUndefined()
      expect(await find(text, noon + lifetimes.accessToken)).toBeUndefined()
    }
  })

  it('passes a guard by a cached record; introspection asks the store', async () => {
    const { text, store, authorization } = await token()
    const find = jest.fn(async () => undefined)
    const verbs = { save: store.save.bind(store), remove: store.remove.bind(store) }
    const cached = { ...verbs, find, getCached: () => ({ authorization, revision }) }
    expect(await guardFinder(cached, formats)(text, noon)).toBeDefined()
    expect(find).not.toHaveBeenCalled()
    expect(await accessFinder(cached, formats)(text, noon)).toBeUndefined()
    const empty = { ...verbs, find: store.find.bind(store), getCached: () => undefined }
    expect(await guardFinder(empty, formats)(text, noon)).toBeDefined()
  })

  it('is explained to the host when a guard refuses it', async () => {
    const { text, store } = await token()
    const observe = (of: string) => tokenObserver(store, of, formats)
    expect(await observe(issuer)('x.y', noon)).toEqual({ cause: 'form' })
    const late = noon + lifetimes.accessToken + 7
    expect(await observe(issuer)(text, late)).toEqual({ cause: 'expired', 'seconds since its end': 7 })
    expect(await observe('https://other.example')(text, noon)).toMatchObject({ cause: 'other_issuer' })
    const gone = tokenObserver(memoryStore(), issuer, formats)
    expect(await gone(text, noon)).toMatchObject({ cause: 'not_in_store' })
  })

  it('cannot be completed without its record', async () => {
    const { issued } = await token()
    const complete = completionOf({ issuer, accessTokenFormats: formats, tokenTypes: [], extensions: [] })
    if (complete === undefined) throw new Error('There is nothing to complete.')
    const result = { action: 'touch', outcome: issued } as const
    await expect(completing(complete, recipient)(result, undefined)).rejects.toThrow(
      'its record does not hold',
    )
  })
})

test('a server without formats and additions completes nothing', () => {
  expect(
    completionOf({ issuer, accessTokenFormats: [], tokenTypes: [], extensions: [{ name: 'idle' }] }),
  ).toBeUndefined()
})
