/** Values that survive a store: what an extension may keep with an authorization. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** What each extension learned at the authorization request, under the extension's own name. */
export type Bindings = Readonly<Record<string, Json>>
