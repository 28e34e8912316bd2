// A short message at the end of the page.

const TOAST_MS = 2_500

/** Shows a short message for `TOAST_MS`. @param {string} text */
export const showToast = text => {
  document.querySelector('.toast')?.remove()
  const toast = document.createElement('p')
  toast.className = 'toast'
  toast.setAttribute('role', 'status')
  toast.textContent = text
  document.body.append(toast)
  setTimeout(() => toast.remove(), TOAST_MS)
}
