import type { Context } from '../doors/context'
import type { Settings } from '../doors/settings'
import type { PageOptions } from '../pages/page-options'
import type { ResolvedAuthorizations } from './authorizations-options'

export interface ListingContext extends Context {
  readonly settings: Settings & ResolvedAuthorizations & { readonly connectedPage: PageOptions['connected'] }
}
