import { application } from '../support/flows/application'
import { outcomeOf } from '../support/flows/outcome'
import { configure, getTokens, ofClient, refresh } from '../support/flows/registered-client'
import { describeRegistration, notesApp, notesService } from '../support/flows/registering'

const unknown = { issues: [{ path: 'client_id', message: 'names no client that is registered here.' }] }

describeRegistration('The host and a client that registered itself', (stage) => {
  const registered = async (metadata: object = notesApp) => {
    const staged = stage()
    const client = await staged.register(metadata)
    return { ...staged, client, id: String(client.body.client_id) }
  }

  test('disableClient shuts the client out at once, and enableClient lets it in again', async () => {
    const staged = await registered()
    const { oauth, flow, client, id } = staged
    const { body } = await getTokens(staged, client)
    await oauth.disableClient(id)
    expect(outcomeOf(await refresh(staged, client, body.refresh_token))).toBe('401 invalid_client')
    expect(outcomeOf(await flow.ask(ofClient(client), 'alice'))).toBe('page 400 invalid_request')
    expect((await staged.register(notesApp)).body).toMatchObject({ error: 'invalid_client_metadata' })
    await oauth.enableClient(id)
    expect((await refresh(staged, client, body.refresh_token)).status).toBe(200)
  })

  test('deleteClient ends a public client, which registers again under another identifier', async () => {
    const staged = await registered()
    const { oauth, client, id } = staged
    const { body } = await getTokens(staged, client)
    await oauth.deleteClient(id)
    expect(outcomeOf(await refresh(staged, client, body.refresh_token))).toBe('401 invalid_client')
    const again = await staged.register(notesApp)
    expect(again.status).toBe(201)
    expect(again.body.client_id).not.toBe(id)
    await expect(oauth.deleteClient(id)).rejects.toMatchObject(unknown)
  })

  test('deleteClient ends a confidential client, and its access to its registration', async () => {
    const staged = await registered(notesService)
    const { oauth, client, id } = staged
    expect((await configure(staged, 'get', client)).status).toBe(200)
    await oauth.deleteClient(id)
    expect((await configure(staged, 'get', client)).status).toBe(401)
    expect(await staged.clients.find(id)).toBeUndefined()
  })

  test('changeClient and the rotation of a secret refuse it: it changes itself', async () => {
    const { oauth, id } = await registered(notesService)
    for (const act of [() => oauth.changeClient(id, {}), () => oauth.rotateClientSecret(id)])
      await expect(act()).rejects.toMatchObject({ name: 'ConfigurationError' })
  })

  test('a client of another issuer on the same store is unknown, and stays as it is', async () => {
    const { clients, id } = await registered()
    const { oauth } = application({ issuer: 'http://127.0.0.1', dynamicRegistration: { store: clients } })
    const before = await clients.find(id)
    for (const act of [
      () => oauth.disableClient(id),
      () => oauth.enableClient(id),
      () => oauth.deleteClient(id),
    ])
      await expect(act()).rejects.toMatchObject(unknown)
    expect(await clients.find(id)).toEqual(before)
  })

  test('an identifier that names no client is refused, whatever it is', async () => {
    const { oauth } = stage()
    for (const id of ['nobody', '', '__proto__', `dynamic_${'a'.repeat(43)}`])
      for (const act of [() => oauth.disableClient(id), () => oauth.deleteClient(id)])
        await expect(act()).rejects.toMatchObject(unknown)
  })
})
