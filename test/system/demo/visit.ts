import type { Page } from 'playwright-core'
import type { Demo } from '../../../demo/demo'
import { press } from '../../support/browser/follow'

/** Signs in at Lumen. */
export async function signIn(page: Page, { account }: Demo, password = account.password): Promise<void> {
  await page.getByLabel('Name').fill(account.username)
  await page.getByLabel('Password').fill(password)
  await press(page, 'Sign in')
}

/** Chooses a workspace on the consent page, and allows. */
export async function allow(page: Page, workspace = 'Travels'): Promise<void> {
  await page.getByLabel(workspace).check()
  await press(page, 'Allow')
}
