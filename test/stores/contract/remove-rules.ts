import type { AuthorizationStore } from '../../../lib/stores/authorization-store'
import { random22 } from './examples'
import { find, save, threeVersions } from './version'

export function removeRules(store: () => AuthorizationStore): void {
  it('removes the record, whatever its revision', async () => {
    const [first, second] = threeVersions()
    await save(store(), first)
    await save(store(), second, first)
    await store().remove(first.authorization.id)
    expect(await find(store(), first)).toBeUndefined()
  })

  it('may be repeated', async () => {
    const [first] = threeVersions()
    await save(store(), first)
    await store().remove(first.authorization.id)
    await expect(store().remove(first.authorization.id)).resolves.toBeUndefined()
    expect(await find(store(), first)).toBeUndefined()
  })

  it('resolves where there never was a record', async () => {
    await expect(store().remove(random22())).resolves.toBeUndefined()
  })
}
