export * from '../pushed-requests/pushed-requests'
export * from '../request-objects/request-objects'
export * from '../form-post/form-post'
